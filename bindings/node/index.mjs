// SPDX-License-Identifier: MIT
import reachability from './index.js';

export const {
  Flags, Flow, RetryTimer, Watch, check, checkSocket, libraryVersion, network, waitUntilReachable, watch, watchSocket,
} = reachability;
export default reachability;
