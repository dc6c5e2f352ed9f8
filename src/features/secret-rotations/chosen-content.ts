import type { z } from 'zod';
import { fieldOf } from './kind/kind-declaration.js';
import { ROTATION_TYPES, type RotationType } from './kinds/kinds.js';
import type { Content, ContentChange } from './rotation.rules.js';

/** What is rotated, with its type, which its field in the input names. */
interface ChosenContent {
  readonly type: RotationType;
  /** Where the request has it. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly secretsMapping?: Readonly<Record<string, string>> | undefined;
  readonly temporaryParameters?: Readonly<Record<string, string>> | null | undefined;
}

/** The one that is given. */
export function chosen(content: z.output<typeof Content> | z.output<typeof ContentChange>): ChosenContent {
  for (const type of ROTATION_TYPES) {
    const given = content[fieldOf(type)];
    // All rules of a mapping and of temporary parameters are of strings.
    if (given !== undefined) return { ...(given as object), type, path: `content.${fieldOf(type)}` };
  }
  throw new Error('rules let an input by that has no type');
}
