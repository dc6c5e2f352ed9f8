import type { z } from 'zod';
import type { RotationType } from './kind/rotation-kind.js';
import type { Content, ContentChange } from './rotation.rules.js';

/** Names of the types in inputs. */
const FIELDS = {
  datatoolServiceToken: 'datatool-service-token',
  hostosLocalAccount: 'hostos-local-account',
} as const satisfies Record<string, RotationType>;
type Field = keyof typeof FIELDS;

/** The field of a type in inputs. */
export const fieldOfType = (type: RotationType): Field =>
  (Object.keys(FIELDS) as Field[]).find((field) => FIELDS[field] === type) as Field;

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
  const [[field, given] = []] = Object.entries(content).filter(([, one]) => one !== undefined) as [
    Field,
    Omit<ChosenContent, 'type' | 'path'>,
  ][];
  if (field === undefined || given === undefined) throw new Error('rules let an input by that has no type');
  return { ...given, type: FIELDS[field], path: `content.${field}` };
}
