// SPDX-License-Identifier: MIT

// Command watch prints the path to a host, and every change: watch HOST [CHANGES]. It ends after CHANGES changes, or on
// Ctrl-C.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strconv"

	"libreachability.invalid/bindings/go/reachability"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: watch HOST [CHANGES]")
	}
	changes := -1
	if len(os.Args) > 2 {
		var err error
		if changes, err = strconv.Atoi(os.Args[2]); err != nil {
			log.Fatal(err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	watcher, err := reachability.Watch(ctx, os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for path := range watcher.Paths() {
		fmt.Printf("%s: 0x%08x  %s\n", os.Args[1], uint32(path.Flags), path)
		if changes == 0 {
			return
		}
		changes--
	}
}
