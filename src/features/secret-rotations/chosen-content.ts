import type { z } from 'zod';
import { fieldOf } from './kind/kind-declaration.js';
import { ROTATION_TYPES, type RotationType } from './kinds/kinds.js';
import type { Content, ContentChange } from './rotation.rules.js';

/** The content of a rotation with its type, which the input wraps it in. */
interface ChosenContent {
  readonly type: RotationType;
  /** Path of the content in the request. */
  readonly path: string;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly secretsMapping?: Readonly<Record<string, string>> | undefined;
  readonly temporaryParameters?: Readonly<Record<string, string>> | null | undefined;
}

/** The content of the given type. */
export function chosen(content: z.output<typeof Content> | z.output<typeof ContentChange>): ChosenContent {
  for (const type of ROTATION_TYPES) {
    const given = content[fieldOf(type)];
    // All rules of mappings and temporary parameters are for strings.
    if (given !== undefined) return { ...(given as object), type, path: `content.${fieldOf(type)}` };
  }
  throw new Error('the rules accepted an input without a type');
}
