// Lists that many may add to and one takes as a whole.
#ifndef TEST_LLIST_H
#define TEST_LLIST_H
#include "../../kernel.h"
struct llist_node {
  struct llist_node *next;
};
struct llist_head {
  struct llist_node *first;
};
#define LLIST_HEAD(name) struct llist_head name = {NULL}
bool llist_add(struct llist_node *node, struct llist_head *head);
struct llist_node *llist_del_all(struct llist_head *head);
#define llist_for_each_entry_safe(pos, n, node, member)                        \
  for (pos = container_of(node, __typeof__(*pos), member);                     \
       &pos->member != NULL &&                                                 \
       (n = container_of(pos->member.next, __typeof__(*n), member), true);     \
       pos = n)
#endif
