/* SPDX-License-Identifier: MIT */
/* What GIO calls when it loads the module: only in programs that use the extension point, if giomodule.cache lists it.
 */
#include "monitor.h"

void g_io_reachability_load(GIOModule *module);
void g_io_reachability_unload(GIOModule *module);
char **g_io_reachability_query(void);

G_MODULE_EXPORT void g_io_reachability_load(GIOModule *module)
{
    g_type_module_use(G_TYPE_MODULE(module)); /* resident: sources and closures have its functions */
    reachability_network_monitor_register(G_TYPE_MODULE(module));
}

G_MODULE_EXPORT void g_io_reachability_unload(GIOModule *module)
{
    (void)module;
}

G_MODULE_EXPORT char **g_io_reachability_query(void)
{
    char *points[] = { (char *)G_NETWORK_MONITOR_EXTENSION_POINT_NAME, NULL };

    return g_strdupv(points);
}
