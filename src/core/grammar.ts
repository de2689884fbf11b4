/**
 * The grammar of program files: all that a file of src/discoverers imports of core. Parameters and schemas
 * first, then actions and programs, then reports.
 */
export { fresh, glue } from './command-line.ts';
export type { Line, Piece, Slot, Template, Values } from './command-line.ts';
export { databaseDump, databaseProgram, databaseQuery } from './database-program.ts';
export type { AnyProgram, DatabaseDump, DatabaseProgram, DatabaseQuestion } from './database-program.ts';
export { categories, effects } from './discoverer.ts';
export type { DatabaseEngine, Effect, Inspection, InspectionRequest, ProjectFiles } from './discoverer.ts';
export { ToolcribError } from './errors.ts';
export { parseExactly } from './exact-json.ts';
export { aside, choice, input, on, operand, option, required, variable, words } from './parameter.ts';
export type { Param, Params } from './parameter.ts';
export { joined, limit, list, matching, name, path, some, text } from './params.ts';
export { action, family, present, program } from './program.ts';
export type { ActionSpec, Alternative, Program, ProgramAction } from './program.ts';
export { kind, listing, saidAfter, told } from './report.ts';
export type { Output, Reader, Report } from './report.ts';
export { matchesPath } from './rule.ts';
export { parentOf, upwards } from './upwards.ts';
