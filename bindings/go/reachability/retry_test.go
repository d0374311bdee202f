// SPDX-License-Identifier: MIT

package reachability

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"
)

const far = "192.0.2.1"

func retryTimer(t *testing.T) *RetryTimer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	timer, err := Target{Host: far}.NewRetryTimer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return timer
}

func expectWake(t *testing.T, timer *RetryTimer, duration time.Duration, expected Wake) {
	t.Helper()
	if wake, err := timer.Sleep(context.Background(), duration); wake != expected || err != nil {
		t.Fatalf("woken by %v, %v; expected: %v", wake, err, expected)
	}
}

// A program that starts offline makes its first attempt at once.
func TestNewTimerWaitsNeitherForTheHostNorForItsName(t *testing.T) {
	newTimer := func(host string) {
		t.Helper()
		// Shorter than a lookup whose server does not reply.
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
		defer cancel()
		if _, err := (Target{Host: host}).NewRetryTimer(ctx); err != nil {
			t.Fatal(host, err)
		}
	}
	newTimer(far)
	newTimer("db.invalid")
	withRoute(t) // now, nobody replies to a lookup
	newTimer("db2.invalid")
}

func TestTimeEndsTheSleepOfAHostThatDoesNotChange(t *testing.T) {
	withRoute(t)
	timer, begin := retryTimer(t), time.Now()
	expectWake(t, timer, 20*time.Millisecond, WakeTime)
	ip(t, "route del default via 10.0.0.1")
	expectWake(t, timer, 20*time.Millisecond, WakeTime)
	if time.Since(begin) < 40*time.Millisecond {
		t.Fatal("it has slept for", time.Since(begin))
	}
}

func TestRouteThatReturnsEndsTheSleep(t *testing.T) {
	timer := retryTimer(t)
	expectWake(t, timer, 10*time.Millisecond, WakeTime)
	withRoute(t)
	expectWake(t, timer, timeLimit, WakeReachable)
	expectWake(t, timer, 10*time.Millisecond, WakeTime)
}

func TestOtherGatewayEndsTheSleep(t *testing.T) {
	withRoute(t)
	timer := retryTimer(t)
	ip(t, "route replace default via 10.0.0.9")
	expectWake(t, timer, timeLimit, WakePath)
	expectWake(t, timer, 10*time.Millisecond, WakeTime)
}

// The change and the end of the time are there at once. Without the rule, one sleep in a thousand misses it.
func TestChangeThatIsThereEndsASleepOfNoTime(t *testing.T) {
	script := NewScript(onEthernet)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	timer, err := Target{Script: script}.NewRetryTimer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	timer.MinInterval = 0
	for i := 0; i < 20000; i++ {
		script.Play([]Path{onWiFi, onEthernet}[i%2])
		for len(timer.watcher.Paths()) == 0 {
			runtime.Gosched()
		}
		expectWake(t, timer, 0, WakePath)
	}
}

func TestUnknownWakeHasAText(t *testing.T) {
	if text := fmt.Sprint(Wake(0), WakePath, Wake(4), Wake(-1)); text != "none path unknown(4) unknown(-1)" {
		t.Error(text)
	}
}

func TestContextEndsTheSleep(t *testing.T) {
	withRoute(t)
	timer := retryTimer(t)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := timer.Sleep(ctx, timeLimit); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	timer, err := Target{Host: far}.NewRetryTimer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := timer.Sleep(context.Background(), timeLimit); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestJitterSpreadsWakesEvenly(t *testing.T) {
	timer := RetryTimer{Jitter: 250 * time.Millisecond}
	var tenths [10]int
	for i := 0; i < 10000; i++ {
		tenths[timer.delay()*10/timer.Jitter]++
	}
	for _, count := range tenths {
		if count < 800 || count > 1200 {
			t.Fatal(tenths)
		}
	}
}

// Up to Go 1.19, the global source of math/rand has the same seed in each process.
func TestTwoProcessesDrawDifferentJitter(t *testing.T) {
	const variable = "REACHABILITY_TEST_DRAW"
	if os.Getenv(variable) != "" {
		fmt.Println("draw", (&RetryTimer{Jitter: time.Hour}).delay())
		return
	}
	var draws [2]string
	for i := range draws {
		output, err := exec.Command("env", "-u", "REACHABILITY_TEST_INSIDE", variable+"=1", // a namespace of its own
			os.Args[0], "-test.run=^"+t.Name()+"$").Output()
		if draws[i] = regexp.MustCompile("draw .*").FindString(string(output)); err != nil || draws[i] == "" {
			t.Fatal(err, string(output))
		}
	}
	if draws[0] == draws[1] {
		t.Fatal("both:", draws[0])
	}
}

func threadCount(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(tasks)
}

func TestManySleepersWakeUpAtOnce(t *testing.T) {
	const count = 10000
	threads := threadCount(t)
	var group sync.WaitGroup
	var begun sync.WaitGroup
	begun.Add(count)
	for i := 0; i < count; i++ {
		timer := retryTimer(t)
		group.Add(1)
		go func() {
			defer group.Done()
			begun.Done()
			if wake, err := timer.Sleep(context.Background(), 10*timeLimit); wake != WakeReachable || err != nil {
				t.Errorf("woken by %v, %v", wake, err)
			}
		}()
	}
	begun.Wait()
	if more := threadCount(t) - threads; more > 2*runtime.NumCPU()+8 {
		t.Errorf("%d more threads", more)
	}
	withRoute(t)
	group.Wait()
}
