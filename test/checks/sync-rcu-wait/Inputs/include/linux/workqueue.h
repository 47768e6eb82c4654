#ifndef TEST_WORKQUEUE_H
#define TEST_WORKQUEUE_H
#include "../../kernel.h"
bool flush_work(struct work_struct *work);
#endif
