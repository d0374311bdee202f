// SPDX-License-Identifier: MIT
import reachability from './index.js';

export const { Flags, RetryTimer, Watch, check, libraryVersion, network, waitUntilReachable, watch } = reachability;
export default reachability;
