import { defineEntity, p } from '@mikro-orm/core';
import { projectColumns } from '../../../kernel/database/columns.js';

/** States of a re-encryption. */
export const REENCRYPTION_STATES = ['running', 'paused', 'settling', 'done', 'cancelled'] as const;

export type ReencryptionState = (typeof REENCRYPTION_STATES)[number];

export const ProjectReencryptionSchema = defineEntity({
  name: 'ProjectReencryption',
  tableName: 'project_reencryption',
  properties: {
    ...projectColumns,
    state: p.text().$type<ReencryptionState>().default('running'),
    totalValues: p.integer().nullable(),
    doneValues: p.integer().default(0),
    unreadableValues: p.integer().default(0),
    destroyedKeys: p.integer().default(0),
    settlingSince: p.datetime(3).nullable(),
    settlingTransactions: p.array().columnType('text[]').defaultRaw(`'{}'::text[]`),
    passTable: p.text().nullable(),
    passRowId: p.uuid().nullable(),
    passPart: p.integer().nullable(),
    passDone: p.integer().default(0),
    passUnreadable: p.integer().default(0),
    finishedAt: p.datetime(3).nullable(),
  },
});

/** A project gets a new key, and everything that is sealed for it is sealed anew. */
export class ProjectReencryption extends ProjectReencryptionSchema.class {}
ProjectReencryptionSchema.setClass(ProjectReencryption);
