// SPDX-License-Identifier: MIT

package reachability_test

import (
	"context"
	"fmt"
	"log"

	"libreachability.invalid/bindings/go/reachability"
)

func ExampleCheck() {
	path, err := reachability.Check(context.Background(), "127.0.0.1")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(path.Flags)
	// Output: Reachable,Local Address,Directly Reachable Address
}

func ExampleWatch() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watcher, err := reachability.Watch(ctx, "127.0.0.1")
	if err != nil {
		log.Fatal(err)
	}
	for path := range watcher.Paths() {
		fmt.Println(path.IsReachable())
		cancel()
	}
	fmt.Println(watcher.Err())
	// Output:
	// true
	// context canceled
}
