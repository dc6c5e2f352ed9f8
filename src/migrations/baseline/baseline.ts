import { Migration } from '@mikro-orm/migrations';
import { ACCESS_HISTORY } from './access-history.js';
import { AUDIT } from './audit.js';
import { CERTIFICATES } from './certificates.js';
import { INSTALLATION } from './installation.js';
import { JOBS } from './jobs.js';
import { KEYS } from './keys.js';
import { MEMBERS } from './members.js';
import { NOTIFICATIONS } from './notifications.js';
import { ORGANIZATIONS } from './organizations.js';
import { OUTGOING_EVENTS } from './outgoing-events.js';
import { PROJECTS } from './projects.js';
import { ROTATIONS } from './rotations.js';
import { ROW_SECURITY } from './row-security.js';
import { SECRETS } from './secrets.js';
import { TOKENS } from './tokens.js';

/** The schema that every database starts from, area by area. Each names only what the areas before it make. */
export class Baseline extends Migration {
  override up(): void {
    for (const area of [
      INSTALLATION,
      ORGANIZATIONS,
      TOKENS,
      PROJECTS,
      KEYS,
      MEMBERS,
      ACCESS_HISTORY,
      AUDIT,
      JOBS,
      SECRETS,
      NOTIFICATIONS,
      CERTIFICATES,
      ROTATIONS,
      OUTGOING_EVENTS,
      ROW_SECURITY,
    ])
      this.addSql(area);
  }
}
