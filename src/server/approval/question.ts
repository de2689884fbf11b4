import { createHash } from 'node:crypto';
import type { Effect } from '../../core/discoverer.ts';
import type { AskReason } from '../../core/policy.ts';

/** A text a person has to see before they answer. It is as it is: who shows it makes it harmless. */
export interface Shown {
  readonly title: string;
  readonly text: string;
  /** Nobody can be asked when it would have to be cut. */
  readonly whole?: boolean;
}

/** What a person is asked about a call. */
export interface Question {
  readonly tool: string;
  /** All they have to be asked for, so that one answer is about all of it; the most telling first. */
  readonly because: readonly AskReason[];
  /** What says that they are to be asked, when a setting does. */
  readonly setting?: string;
  readonly effects: readonly Effect[];
  readonly command?: string;
  readonly folder?: string;
  readonly shows: readonly Shown[];
  /** What else can be answered than yes and no, in words; what is left out cannot. */
  readonly offers: { readonly always?: string; readonly trust?: string };
  /** What the answer is about beside what is shown; the question is another one when this is another. */
  readonly about?: string;
}

/** What a person can say. */
export const sayings = ['yes', 'always', 'trust', 'no'] as const;
export type Said = (typeof sayings)[number];

/** What a person may say to a question. */
export const offered = ({ offers }: Question, said: Said): boolean =>
  said === 'yes' || said === 'no' || offers[said] !== undefined;

/** SHA-256 of a JSON value; the same for objects whose properties differ in their order only. */
export const digestOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sorted)).digest('base64url');

function sorted(_name: string, part: unknown): unknown {
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  const named = Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1));
  // As pairs: an object would put numbers first, and these are compared with themselves only.
  return { properties: named.map(([name, value]) => [name, value]) };
}
