import { formatDocument, stringifyDocument } from 'urql';
import * as access from './documents/access.ts';
import * as audit from './documents/audit.ts';
import * as certificates from './documents/certificates.ts';
import * as overview from './documents/overview.ts';
import * as project from './documents/project.ts';
import * as session from './documents/session.ts';
import { HELPS } from './helps.ts';

type Document = Parameters<typeof formatDocument>[0];
/** All documents, by file. */
const FILES: readonly Readonly<Record<string, Document>>[] = [access, audit, certificates, overview, project, session];
const DOCUMENTS = [
  ...FILES.flatMap((file) => Object.values(file)),
  ...[...HELPS.values()].map(({ mutation }) => mutation),
];

/** The documents as the console asks for them, by the names of their operations. */
export const manifest: Readonly<Record<string, string>> = Object.fromEntries(
  DOCUMENTS.map((document) => [nameOf(document), stringifyDocument(formatDocument(document))]),
);

function nameOf({ definitions: [definition] }: (typeof DOCUMENTS)[number]): string {
  if (definition?.kind !== 'OperationDefinition' || definition.name === undefined)
    throw new Error('a document without a name');
  return definition.name.value;
}

/** The same as people read them: the explorer opens them. */
export const queries: Readonly<Record<string, string>> = Object.fromEntries(
  DOCUMENTS.map((document) => [nameOf(document), stringifyDocument(document)]),
);
