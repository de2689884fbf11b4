import { on, operand, option, required } from '../core/parameter.ts';
import { joined, list, path, some } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { gnu } from './reports/diagnostics.ts';
import { diagnostics } from './reports/kinds.ts';

export default program('kotlinc', {
  title: 'Kotlin compiler',
  category: 'build',
  site: 'https://kotlinlang.org/docs/command-line.html',
  get: { apt: 'kotlin', brew: 'kotlin', winget: 'JetBrains.Kotlin.Compiler' },
  version: { args: ['-version'], pattern: /kotlinc-\w+ (\d\S*)/ },
  project: ['*.kt'],
  environment: ['JAVA_HOME'],
  marks: '-@',
  actions: {
    compile: action('Compile Kotlin', 'Compiles files; errors with their places.', ['execute', 'write'], {
      role: 'build',
      run: [],
      dashes: false,
      params: {
        classpath: option(
          '-cp',
          list(path('JAR or folder'), 'Where classes are'),
          joined(process.platform === 'win32' ? ';' : ':'),
        ),
        path: required('-d', path('New JAR, or folder for classes', 'any', { written: true })),
        runtime: on('-include-runtime', 'So that java_run_jar runs the JAR'),
        files: operand(some(path('Source', 'file'), 'Files')),
      },
      given: { path: 'app.jar', runtime: true, files: ['main.kt'] },
      ok: [0, 1],
      out: diagnostics(gnu),
    }),
  },
});
