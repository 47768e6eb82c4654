// Just enough of the kernel's API for the tests of this rule: locks.
#ifndef TEST_LINUX_RWSEM_H
#define TEST_LINUX_RWSEM_H

#include "kernel.h"

struct rw_semaphore {
  long count;
};
void down_read(struct rw_semaphore *sem);
void up_read(struct rw_semaphore *sem);
void down_write(struct rw_semaphore *sem);
void up_write(struct rw_semaphore *sem);

typedef struct {
  int slock;
} spinlock_t;
void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

#endif
