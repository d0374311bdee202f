#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Perl with FFI::Platypus: watch.pl HOST [CHANGES] prints the flags of a host, and those after each change. The program
# waits for the run loop's descriptor, so Perl's signal handlers run.

use strict;
use warnings FATAL => 'all';

use FFI::Platypus 2.00;

my $ffi = FFI::Platypus->new(api => 2, lib => 'libreachability.so.0');
$ffi->attach(SCError       => []         => 'sint32');
$ffi->attach(SCErrorString => ['sint32'] => 'string');
$ffi->attach(SCNetworkReachabilityCreateWithName        => [ 'opaque', 'string' ]           => 'opaque');
$ffi->attach(SCNetworkReachabilityRelease               => ['opaque']                       => 'void');
$ffi->attach(SCNetworkReachabilityGetFlags              => [ 'opaque', 'uint32*' ]          => 'uint8');
$ffi->attach(SCNetworkReachabilityScheduleWithRunLoop   => [ 'opaque', 'opaque', 'string' ] => 'uint8');
$ffi->attach(SCNetworkReachabilityUnscheduleFromRunLoop => [ 'opaque', 'opaque', 'string' ] => 'uint8');
$ffi->attach(SCRunLoopCreate            => []                      => 'opaque');
$ffi->attach(SCRunLoopRelease           => ['opaque']              => 'void');
$ffi->attach(SCRunLoopGetFileDescriptor => ['opaque']              => 'sint32');
$ffi->attach(SCRunLoopPerform           => [ 'opaque', 'double' ]  => 'sint32');
$ffi->attach(SCRunLoopCopyNextChange    => [ 'opaque', 'uint32*' ] => 'opaque');

use constant DEFAULT_MODE => 'kSCRunLoopDefaultMode';

# Dies with the error of this thread's last call.
sub fail {
    my $code = SCError();
    die SCErrorString($code) . " ($code)\n";
}

my ($host, $changes) = @ARGV;
$host //= '192.0.2.1';
local $| = 1;

my $target = SCNetworkReachabilityCreateWithName(undef, $host) // fail();
my $loop   = SCRunLoopCreate() // fail();
SCNetworkReachabilityScheduleWithRunLoop($target, $loop, DEFAULT_MODE) or fail();
my $descriptor = SCRunLoopGetFileDescriptor($loop);

SCNetworkReachabilityGetFlags($target, \my $flags) or fail();
printf "%s: 0x%08x\n", $host, $flags;
while (!defined $changes || $changes > 0) {
    vec(my $readable = '', $descriptor, 1) = 1;
    select $readable, undef, undef, undef;
    SCRunLoopPerform($loop, 0) >= 0 or fail();
    while (my $changed = SCRunLoopCopyNextChange($loop, \$flags)) {
        SCNetworkReachabilityRelease($changed);
        printf "%s: 0x%08x\n", $host, $flags;
        $changes-- if defined $changes;
    }
}

SCNetworkReachabilityUnscheduleFromRunLoop($target, $loop, DEFAULT_MODE);
SCRunLoopRelease($loop);
SCNetworkReachabilityRelease($target);
