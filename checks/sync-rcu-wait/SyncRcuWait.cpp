#include "SyncRcuWait.h"
namespace decontend {
JudgeResult SyncRcuWait::judge(const Program &P, const Scope &S) const { return {}; }
Plan SyncRcuWait::plan(const Program &P, const Finding &F, Sources &Files) const { return {}; }
}
