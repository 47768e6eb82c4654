// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stand-in for the compiler in a pretend kernel build: kbuild writes its .cmd
// files, nothing is compiled. With RECCC_FAKE=1 a kernel compile
// (-D__KERNEL__ -c -o X.o Y.c) only leaves an empty object and a one-line
// dependency file; objects whose contents feed a later generator are compiled
// for real. Otherwise runs $RECCC_CC, by default clang-19.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

  if (fd < 0)
    return;
  if (text && write(fd, text, strlen(text)) < 0)
    perror(path);
  close(fd);
}

int main(int argc, char **argv) {
  static const char *const real[] = {"arch/x86/realmode", "arch/x86/boot",
                                     "arch/x86/purgatory", "scripts/"};
  const char *fake = getenv("RECCC_FAKE"), *cc = getenv("RECCC_CC");
  const char *out = NULL, *src = NULL, *dep = NULL;
  int compile = 0, kernel = 0, other = 0;

  for (int i = 1; i < argc; i++) {
    size_t n = strlen(argv[i]);

    if (!strcmp(argv[i], "-c"))
      compile = 1;
    else if (!strcmp(argv[i], "-E") || !strcmp(argv[i], "-S"))
      other = 1;
    else if (!strcmp(argv[i], "-o") && i + 1 < argc)
      out = argv[++i];
    else if (!strncmp(argv[i], "-Wp,-MMD,", 9))
      dep = argv[i] + 9;
    else if (!strcmp(argv[i], "-D__KERNEL__"))
      kernel = 1;
    else if (n > 2 && argv[i][0] != '-' &&
             (!strcmp(argv[i] + n - 2, ".c") || !strcmp(argv[i] + n - 2, ".S")))
      src = argv[i];
  }
  if (fake && *fake == '1' && compile && kernel && !other && out && src &&
      dep) {
    int keep = strstr(out, "/vdso/") || strstr(out, "devicetable-offsets");

    for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++)
      keep |= !strncmp(out, real[i], strlen(real[i]));
    if (!keep) {
      char line[8192];

      snprintf(line, sizeof(line), "%s: %s\n", out, src);
      put(dep, line);
      put(out, NULL);
      return 0;
    }
  }
  argv[0] = (char *)(cc ? cc : "clang-19");
  execvp(argv[0], argv);
  perror(argv[0]);
  return 127;
}
