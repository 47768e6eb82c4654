//===- percpu_rseq.h - Adding to a word of this CPU --------------*- C -*-===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   announce --> [ still on this CPU? --> store ] --> withdraw
//                        |  preempted, migrated or a signal
//                        v
//                    false, nothing stored
//
// Changes to words of a CPU, without locked instructions, that no other thread
// of that CPU can tear, by a restartable sequence: the kernel moves a thread
// that it interrupts between the brackets to an abort address. Not part of the
// API; the headers that add inline include it.
//
// Source: the kernel's ABI, include/uapi/linux/rseq.h and rseq(2); idea from
// Desnoyers, Turner and Hunter, after Bershad, Redell and Ellis, "Fast mutual
// exclusion for uniprocessors", ASPLOS 1992.
//
// glibc 2.35 and later registers each thread. DCT_PERCPU_RSEQ is 0 where it, or
// the architecture, cannot; and under ThreadSanitizer, which sees no assembly.
// A thread without a registration (tunable glibc.pthread.rseq=0, seccomp, old
// kernels) has a negative cpu_id, which equals no CPU: it gets false.
//
//===----------------------------------------------------------------------===//
#ifndef DECONTEND_PERCPU_RSEQ_H
#define DECONTEND_PERCPU_RSEQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__SANITIZE_THREAD__)
#define DCT_PERCPU_RSEQ 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DCT_PERCPU_RSEQ 0
#endif
#endif

#ifndef DCT_PERCPU_RSEQ
#if defined(__has_include)
#if __has_include(<sys/rseq.h>) && defined(__linux__) &&                       \
    ((defined(__x86_64__) && !defined(__ILP32__)) || defined(__AARCH64EL__))
#define DCT_PERCPU_RSEQ 1
#endif
#endif
#endif
#ifndef DCT_PERCPU_RSEQ
#define DCT_PERCPU_RSEQ 0
#endif

#if DCT_PERCPU_RSEQ
#include <sys/rseq.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The area that glibc registered for this thread. It exists, with a negative
/// cpu_id, where registration failed too.
static inline struct rseq *dct_percpu_rseq_area(void) {
  char *self;
#if defined(__x86_64__)
  // By hand, because compilers differ in whether they have a builtin for it.
  __asm__("movq %%fs:0, %0" : "=r"(self));
#else
  self = (char *)__builtin_thread_pointer();
#endif
  return (struct rseq *)(void *)(self + __rseq_offset);
}

/// The CPU to try. May be out of date, never out of the kernel's range; 0 in a
/// thread that is not registered.
static inline uint32_t dct_percpu_rseq_cpu(const struct rseq *area) {
  return __atomic_load_n(&area->cpu_id_start, __ATOMIC_RELAXED);
}

// Sections of an inline function can be dropped with their group by the linker:
// the question mark puts the descriptor and the abort code into the same group.
// The signature before the abort address is the operand of a trap.
#define DCT_RSEQ_DESCRIPTOR                                                    \
  ".pushsection __rseq_cs, \"aw?\"\n\t"                                        \
  ".balign 32\n\t"                                                             \
  "3:\n\t"                                                                     \
  ".long 0, 0\n\t"                                                             \
  ".quad 1f, 2f - 1f, 4f\n\t"                                                  \
  ".popsection\n\t"
#if defined(__x86_64__)
#define DCT_RSEQ_BEGIN                                                         \
  DCT_RSEQ_DESCRIPTOR                                                          \
  "leaq 3b(%%rip), %%rax\n\t"                                                  \
  "movq %%rax, %c[cs](%[area])\n\t"                                            \
  "1:\n\t"                                                                     \
  "cmpl %[cpu], %c[id](%[area])\n\t"                                           \
  "jne %l[failed]\n\t"
#define DCT_RSEQ_END                                                           \
  "2:\n\t"                                                                     \
  ".pushsection __rseq_failure, \"ax?\"\n\t"                                   \
  ".byte 0x0f, 0xb9, 0x3d\n\t"                                                 \
  ".long 0x53053053\n\t"                                                       \
  "4:\n\t"                                                                     \
  "jmp %l[failed]\n\t"                                                         \
  ".popsection"
#define DCT_RSEQ_VALUE "er"
#define DCT_RSEQ_CLOBBER "memory", "cc", "rax"
#else
#define DCT_RSEQ_BEGIN                                                         \
  DCT_RSEQ_DESCRIPTOR                                                          \
  "adrp x15, 3b\n\t"                                                           \
  "add x15, x15, :lo12:3b\n\t"                                                 \
  "str x15, [%[area], %[cs]]\n\t"                                              \
  "1:\n\t"                                                                     \
  "ldr w15, [%[area], %[id]]\n\t"                                              \
  "cmp w15, %w[cpu]\n\t"                                                       \
  "b.ne %l[failed]\n\t"
#define DCT_RSEQ_END                                                           \
  "2:\n\t"                                                                     \
  ".pushsection __rseq_failure, \"ax?\"\n\t"                                   \
  ".inst 0xd428bc00\n\t"                                                       \
  "4:\n\t"                                                                     \
  "b %l[failed]\n\t"                                                           \
  ".popsection"
#define DCT_RSEQ_VALUE "r"
#define DCT_RSEQ_CLOBBER "memory", "cc", "x13", "x14", "x15"
#endif
#define DCT_RSEQ_INPUT                                                         \
  [area] "r"(area), [cpu] "r"(cpu), [word] "r"(word),                          \
      [cs] "i"(offsetof(struct rseq, rseq_cs)),                                \
      [id] "i"(offsetof(struct rseq, cpu_id))

/// Takes back what a section announced. The descriptor may lie in a library
/// that is closed before the kernel looks at the pointer next, and a pointer to
/// nowhere ends the process.
static inline void dct_percpu_rseq_withdraw(struct rseq *area) {
  __atomic_store_n((uint64_t *)(void *)&area->rseq_cs, 0, __ATOMIC_RELAXED);
}

// Of all three: wait-free, false with nothing changed if this thread is not on
// that cpu all the time. Words have one cpu that they are changed on; anybody
// may read them, atomically. Release order, so that who sees a change sees what
// came before it: on x86-64 any store has it.

/// Adds amount to *word.
static inline bool dct_percpu_rseq_add(struct rseq *area, uint32_t cpu,
                                       uint64_t *word, uint64_t amount) {
  __asm__ __volatile__ goto(DCT_RSEQ_BEGIN
#if defined(__x86_64__)
                            "addq %[amount], (%[word])\n\t"
#else
                            "ldr x15, [%[word]]\n\t"
                            "add x15, x15, %[amount]\n\t"
                            "stlr x15, [%[word]]\n\t"
#endif
                            DCT_RSEQ_END
                            :
                            : DCT_RSEQ_INPUT, [amount] DCT_RSEQ_VALUE(amount)
                            : DCT_RSEQ_CLOBBER
                            : failed);
  dct_percpu_rseq_withdraw(area);
  return true;
failed:
  dct_percpu_rseq_withdraw(area);
  return false;
}

/// Of three words up, down and published: adds amount, to up if down is false,
/// and its negative to down otherwise; if that leaves up - down - published
/// within [-most, most], modulo 2^64. Otherwise false, too.
static inline bool dct_percpu_rseq_add_near(struct rseq *area, uint32_t cpu,
                                            uint64_t *word, bool down,
                                            uint64_t amount, uint64_t most) {
  __asm__ __volatile__ goto(
      DCT_RSEQ_BEGIN
#if defined(__x86_64__)
      "movq (%[word]), %%rax\n\t"
      "addq %[shifted], %%rax\n\t"
      "subq 8(%[word]), %%rax\n\t"
      "subq 16(%[word]), %%rax\n\t"
      "cmpq %[range], %%rax\n\t"
      "ja %l[failed]\n\t"
      "addq %[magnitude], (%[target])\n\t"
#else
      "ldp x15, x14, [%[word]]\n\t"
      "ldr x13, [%[word], 16]\n\t"
      "sub x15, x15, x14\n\t"
      "sub x15, x15, x13\n\t"
      "add x15, x15, %[shifted]\n\t"
      "cmp x15, %[range]\n\t"
      "b.hi %l[failed]\n\t"
      "ldr x15, [%[target]]\n\t"
      "add x15, x15, %[magnitude]\n\t"
      "stlr x15, [%[target]]\n\t"
#endif
      DCT_RSEQ_END
      :
      : DCT_RSEQ_INPUT, [target] "r"(word + down),
        [magnitude] DCT_RSEQ_VALUE(down ? 0 - amount : amount),
        [shifted] DCT_RSEQ_VALUE(amount + most),
        [range] DCT_RSEQ_VALUE(2 * most)
      : DCT_RSEQ_CLOBBER
      : failed);
  dct_percpu_rseq_withdraw(area);
  return true;
failed:
  dct_percpu_rseq_withdraw(area);
  return false;
}

/// Of the same three words: sets published to up - down if all are as given;
/// otherwise false, too.
static inline bool dct_percpu_rseq_follow(struct rseq *area, uint32_t cpu,
                                          uint64_t *word, uint64_t up,
                                          uint64_t down, uint64_t published) {
  __asm__ __volatile__ goto(DCT_RSEQ_BEGIN
#if defined(__x86_64__)
                            "cmpq %[up], (%[word])\n\t"
                            "jne %l[failed]\n\t"
                            "cmpq %[down], 8(%[word])\n\t"
                            "jne %l[failed]\n\t"
                            "cmpq %[published], 16(%[word])\n\t"
                            "jne %l[failed]\n\t"
                            "movq %[value], 16(%[word])\n\t"
#else
                            "ldp x15, x14, [%[word]]\n\t"
                            "cmp x15, %[up]\n\t"
                            "b.ne %l[failed]\n\t"
                            "cmp x14, %[down]\n\t"
                            "b.ne %l[failed]\n\t"
                            "ldr x15, [%[word], 16]\n\t"
                            "cmp x15, %[published]\n\t"
                            "b.ne %l[failed]\n\t"
                            "str %[value], [%[word], 16]\n\t"
#endif
                            DCT_RSEQ_END
                            :
                            : DCT_RSEQ_INPUT, [up] "r"(up), [down] "r"(down),
                              [published] "r"(published), [value] "r"(up - down)
                            : DCT_RSEQ_CLOBBER
                            : failed);
  dct_percpu_rseq_withdraw(area);
  return true;
failed:
  dct_percpu_rseq_withdraw(area);
  return false;
}

#undef DCT_RSEQ_DESCRIPTOR
#undef DCT_RSEQ_BEGIN
#undef DCT_RSEQ_END
#undef DCT_RSEQ_VALUE
#undef DCT_RSEQ_CLOBBER
#undef DCT_RSEQ_INPUT

#ifdef __cplusplus
}
#endif

#endif // DCT_PERCPU_RSEQ
#endif // DECONTEND_PERCPU_RSEQ_H
