module libreachability.invalid/bindings/go

go 1.19
