// A C project with CMake and CTest: a build that fails, a new function with its test, a program at the end of a pipe.
import { put, repository } from './make.mjs';
import { edit, write } from './sides.mjs';

const files = {
  'CMakeLists.txt': `cmake_minimum_required(VERSION 3.16)
project(words C)
set(CMAKE_C_STANDARD 11)
add_compile_options(-Wall)
add_library(words src/count.c src/table.c src/text.c)
target_include_directories(words PUBLIC include)
add_executable(wc2 src/main.c)
target_link_libraries(wc2 words)
enable_testing()
foreach(name count table)
  add_executable(test_\${name} test/test_\${name}.c)
  target_link_libraries(test_\${name} words)
  add_test(NAME \${name} COMMAND test_\${name})
endforeach()
`,
  '.gitignore': 'build/\n',
  'include/words.h': `#ifndef WORDS_H
#define WORDS_H
#include <stddef.h>

struct table {
  size_t used;
  struct { char word[32]; unsigned count; } entries[4096];
};

size_t count_words(const char *text);
unsigned table_add(struct table *table, const char *word);
char *text_lower(char *text);
#endif
`,
  'src/count.c': `#include "words.h"
#include <ctype.h>

size_t count_words(const char *text) {
  size_t count = 0;
  int inside = 0;
  for (; *text; text++) {
    if (isalpha((unsigned char)*text)) {
      if (!inside) count++;
      inside = 1;
    } else {
      inside = 0;
    }
  }
  return count;
}
`,
  'src/table.c': `#include "words.h"
#include <string.h>

unsigned table_add(struct table *table, const char *word) {
  for (size_t at = 0; at < table->used; at++)
    if (strcmp(table->entries[at].word, word) == 0) return ++table->entries[at].count;
  struct entry *new = &table->entries[table->used++];
  strncpy(new->word, word, sizeof new->word - 1);
  new->count = 0;
  return new->count;
}
`,
  'src/text.c': `#include "words.h"
#include <ctype.h>

char *text_lower(char *text) {
  for (char *at = text; *at; at++) *at = tolower(*at);
  return text
}
`,
  'src/main.c': `#include "words.h"
#include <stdio.h>

static struct table table;

int main(void) {
  char word[32];
  while (scanf("%31s", word) == 1) table_add(&table, text_lower(word));
  for (size_t at = 0; at < table.used; at++) printf("%u %s\\n", table.entries[at].count, table.entries[at].word);
  return 0;
}
`,
  'test/test_count.c': `#include "words.h"
#include <assert.h>

int main(void) {
  assert(count_words("one two") == 2);
  assert(count_words("") == 0);
  return 0;
}
`,
  'test/test_table.c': `#include "words.h"
#include <assert.h>
#include <string.h>

static struct table table;

int main(void) {
  assert(table_add(&table, "tea") == 1);
  assert(table_add(&table, "tea") == 2);
  return 0;
}
`,
  'data.txt': `${'the tea and the cup and the pot of tea '.repeat(200)}\n`,
};

const shape = 'struct { char word[32]; unsigned count; } entries[4096];';
const mended = [
  ['src/text.c', 'return text\n', 'return text;\n'],
  [
    'include/words.h',
    `struct table {\n  size_t used;\n  ${shape}`,
    'struct entry {\n  char word[32];\n  unsigned count;\n};\n\nstruct table {\n  size_t used;\n  struct entry entries[4096];',
  ],
];
const counted = ['src/table.c', 'new->count = 0;', 'new->count = 1;'];
const longest = `#include "words.h"

size_t longest_word(const char *text) {
  size_t longest = 0, now = 0;
  for (; *text; text++) {
    now = *text == ' ' ? 0 : now + 1;
    if (now > longest) longest = now;
  }
  return longest;
}
`;
const longestTest = `#include "words.h"
#include <assert.h>

int main(void) {
  assert(longest_word("a teapot") == 6);
  return 0;
}
`;
const added = [
  ['CMakeLists.txt', 'src/text.c)', 'src/text.c src/longest.c)'],
  ['CMakeLists.txt', 'foreach(name count table)', 'foreach(name count table longest)'],
  [
    'include/words.h',
    'size_t count_words(const char *text);',
    'size_t count_words(const char *text);\nsize_t longest_word(const char *text);',
  ],
];
const editsOf = (all) => all.map(([path, old_string, new_string]) => ({ path, old_string, new_string }));
const pipe = './build/wc2 < data.txt | sort -rn | head -3';

export const c = {
  name: 'C',
  folder: 'words',
  make(folder) {
    put(folder, files);
    repository(folder).commit('Count words');
  },
  tasks: [
    {
      name: 'build; where does it fail',
      expects: [
        /text\.c:6/,
        /expected .;. before/,
        /table\.c:[78]/,
        /incompatible pointer|incomplete type|invalid use of undefined/,
      ],
      ours: ({ turn }) => turn(['check', { what: 'build' }]),
      theirs: ({ turn }) =>
        turn("cmake -B build > /dev/null && cmake --build build -- -k 2>&1 | grep -E 'error|warning'"),
    },
    {
      name: 'mend it, build, test',
      expects: [/size_t used/, /\btable\b/, /test_table\.c:8/, /== 1/],
      async ours({ turn }) {
        await turn(['read_file', { path: 'include/words.h' }], ['read_file', { path: 'src/table.c' }]);
        await turn(['edit_files', { edits: editsOf(mended) }]);
        await turn(['check', { what: 'all' }]);
      },
      async theirs({ turn }) {
        await turn('cat include/words.h src/table.c');
        await turn(...mended.map((one) => edit(...one)));
        await turn(
          "cmake --build build 2>&1 | grep -E 'error|warning'; ctest --test-dir build --output-on-failure | tail -20",
        );
      },
    },
    {
      name: 'mend the count, add a function with its test, build, test',
      expects: [/3 passed|100% tests passed.* 3/],
      async ours({ turn }) {
        await turn(
          ['edit_files', { edits: editsOf([counted, ...added]) }],
          ['write_file', { path: 'src/longest.c', content: longest }],
          ['write_file', { path: 'test/test_longest.c', content: longestTest }],
        );
        await turn(['check', { what: 'all' }]);
      },
      async theirs({ turn }) {
        await turn(
          ...[counted, ...added].map((one) => edit(...one)),
          write('src/longest.c', longest),
          write('test/test_longest.c', longestTest),
        );
        await turn(
          "cmake --build build 2>&1 | grep -E 'error|warning'; ctest --test-dir build --output-on-failure | tail -5",
        );
      },
    },
    {
      name: 'run the program at the end of a pipe',
      expects: [/600 the/, /400 tea/],
      ours: ({ turn }) => turn(['run', { command: 'cat data.txt | ./build/wc2 | sort -rn | head -3' }]),
      theirs: ({ turn }) => turn(pipe),
    },
  ],
};
