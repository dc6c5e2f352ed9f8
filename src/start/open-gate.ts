import { readFile } from 'node:fs/promises';
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config.js';
import { ConfigurationError } from '../kernel/configuration-error.js';
import { CostModel } from '../kernel/graphql/gate/cost.js';
import { Gate } from '../kernel/graphql/gate/gate.js';
import { ManifestError, PersistedDocuments } from '../kernel/graphql/gate/persisted-documents.js';
import { codeOf, type Log } from '../kernel/log.js';

/** The limits on GraphQL documents, and the persisted ones. @throws ConfigurationError for a manifest that cannot be read */
export async function openGate(schema: GraphQLSchema, config: Config, log: Log): Promise<Gate> {
  const { queryLimits, persistedDocuments, introspection } = config;
  const model = new CostModel(schema);
  const trusted = { schema, model, limits: queryLimits.ofPersisted, introspection };
  // The console's: the build has made them.
  const own = JSON.parse(await readFile(new URL('./console/documents.json', import.meta.url), 'utf8')) as object;
  const persisted = new PersistedDocuments(persistedDocuments.file, trusted, log, new Map(Object.entries(own)));
  try {
    await persisted.open();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const reason = error instanceof ManifestError ? error.message : codeOf(error);
    throw new ConfigurationError([`PERSISTED_DOCUMENTS names an unusable file: ${reason}`]);
  }
  return new Gate(
    {
      model,
      limits: queryLimits.ofCallers,
      trustedLimits: queryLimits.ofPersisted,
      isPersistedOnly: persistedDocuments.isOnly,
    },
    persisted,
  );
}
