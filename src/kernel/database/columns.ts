import { p } from '@mikro-orm/core';
import { newId } from '../ids.js';

/** Columns of every row that belongs to an organization. */
export const organizationColumns = {
  id: p.uuid().primary().onCreate(newId),
  organizationId: p.uuid(),
  createdAt: p.datetime(3).defaultRaw('now()'),
  updatedAt: p.datetime(3).defaultRaw('now()'),
};

/** Columns of every row that belongs to a project. */
export const projectColumns = { ...organizationColumns, projectId: p.uuid() };
