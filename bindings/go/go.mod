module reachability

go 1.19
