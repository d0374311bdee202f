module libreachability.invalid/bindings/go/reachability

go 1.19
