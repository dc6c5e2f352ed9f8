import { defineEntity, p } from '@mikro-orm/core';
import { newId } from '../../../../kernel/ids.js';

export const UserSchema = defineEntity({
  name: 'User',
  // `user` is a reserved word of SQL.
  tableName: 'app_user',
  uniques: [{ name: 'app_user_username_unique', properties: ['organizationId', 'username'] }],
  properties: {
    id: p.uuid().primary().onCreate(newId),
    organizationId: p.uuid(),
    username: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
});

/** A person, named by a username in the organization that owns the account. */
export class User extends UserSchema.class {}
UserSchema.setClass(User);
