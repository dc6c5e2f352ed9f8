import { defineEntity, p } from '@mikro-orm/core';

export const InstallationSchema = defineEntity({
  name: 'Installation',
  tableName: 'installation',
  properties: {
    id: p.smallint().primary().autoincrement(false).default(1),
    keyCheckValue: p.blob().$type<Buffer>(),
    keptKeysSealed: p.blob().$type<Buffer>().nullable(),
    wrappedRootKey: p.text().nullable(),
    nextWrappedRootKey: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** The one row that ties a database to its root key, by a value that only this key makes. */
export class Installation extends InstallationSchema.class {}
InstallationSchema.setClass(Installation);
