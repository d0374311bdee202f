# frozen_string_literal: true

# SPDX-License-Identifier: MIT
# Ruby with Fiddle: watch.rb HOST [CHANGES] prints the flags of a host, and those after each change. Ruby waits for the
# run loop's descriptor, so its other threads run meanwhile, and Ctrl-C works.

require "fiddle/import"
require "io/wait"

# The calls of libreachability that this program uses. Its header is the manual.
module Reachability
  extend Fiddle::Importer
  dlload "libreachability.so.0"

  DEFAULT_MODE = "kSCRunLoopDefaultMode"

  extern "int SCError()"
  extern "const char *SCErrorString(int)"
  extern "void *SCNetworkReachabilityCreateWithName(void *, const char *)"
  extern "void SCNetworkReachabilityRelease(void *)"
  extern "unsigned char SCNetworkReachabilityGetFlags(void *, void *)"
  extern "unsigned char SCNetworkReachabilityScheduleWithRunLoop(void *, void *, const char *)"
  extern "unsigned char SCNetworkReachabilityUnscheduleFromRunLoop(void *, void *, const char *)"
  extern "void *SCRunLoopCreate()"
  extern "void SCRunLoopRelease(void *)"
  extern "int SCRunLoopGetFileDescriptor(void *)"
  extern "int SCRunLoopPerform(void *, double)"
  extern "void *SCRunLoopCopyNextChange(void *, void *)"

  # A call failed. The code is an errno below 1000, or a kSCStatus... constant.
  class Error < StandardError
    attr_reader :code

    def initialize(code)
      @code = code
      super("#{Reachability.SCErrorString(code)} (#{code})")
    end
  end

  # Raises if a call on this thread failed.
  def self.succeed(result)
    failed = result.is_a?(Integer) ? result <= 0 : result.null?
    raise Error, SCError() if failed

    result
  end

  # Yields the flags of a host: now, and after each change.
  def self.watch(host)
    target = succeed(SCNetworkReachabilityCreateWithName(nil, host))
    run_loop = succeed(SCRunLoopCreate())
    succeed(SCNetworkReachabilityScheduleWithRunLoop(target, run_loop, DEFAULT_MODE))
    flags = Fiddle::Pointer.malloc(Fiddle::SIZEOF_INT, Fiddle::RUBY_FREE)
    succeed(SCNetworkReachabilityGetFlags(target, flags))
    yield flags[0, Fiddle::SIZEOF_INT].unpack1("L")
    each_change(run_loop, flags) { |value| yield value }
  ensure
    SCNetworkReachabilityUnscheduleFromRunLoop(target, run_loop, DEFAULT_MODE) if target && run_loop
    SCRunLoopRelease(run_loop) if run_loop
    SCNetworkReachabilityRelease(target) if target
  end

  def self.each_change(run_loop, flags)
    readable = IO.for_fd(SCRunLoopGetFileDescriptor(run_loop), autoclose: false)
    loop do
      raise Error, SCError() if SCRunLoopPerform(run_loop, 0.0).negative?

      until (changed = SCRunLoopCopyNextChange(run_loop, flags)).null?
        SCNetworkReachabilityRelease(changed)
        yield flags[0, Fiddle::SIZEOF_INT].unpack1("L")
      end
      readable.wait_readable
    end
  end
  private_class_method :each_change
end

host, changes = ARGV
host ||= "192.0.2.1"
left = changes&.to_i
Reachability.watch(host) do |flags|
  puts format("%<host>s: 0x%<flags>08x", host: host, flags: flags)
  $stdout.flush
  break if left&.zero?

  left -= 1 if left
end
