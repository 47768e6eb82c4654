#include "checks/sync-rcu-wait/SyncRcuWait.h"
namespace decontend {
Plan SyncRcuWait::plan(const Program &P, const Finding &F, Sources &Files) const { return {}; }
}
