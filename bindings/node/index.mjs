// SPDX-License-Identifier: MIT
import reachability from './index.js';

export const {
  Flags, Flow, NetworkWatch, RetryTimer, Script, Watch, check, checkSocket, libraryVersion, network, waitUntilReachable,
  watch, watchNetwork, watchSocket,
} = reachability;
export default reachability;
