import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../ids.js';

export const DataKeySchema = defineEntity({
  name: 'DataKey',
  tableName: 'data_key',
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    projectId: p.uuid().nullable(),
    parentKeyId: p.uuid().nullable(),
    organizationKeyId: p.uuid().nullable(),
    wrappedKeySealed: p.blob().$type<Buffer>(),
    sealsReserved: p.bigint('string').defaultRaw('0'),
    createdAt: p.datetime(3).defaultRaw('now()'),
    retiredAt: p.datetime(3).nullable(),
    destroyedAt: p.datetime(3).nullable(),
  },
});

/**
 * A version of the key of an organization or a project. It is sealed, by the root key or by the key of the organization.
 */
export class DataKey extends DataKeySchema.class {}
DataKeySchema.setClass(DataKey);
