import { authorize } from '../../../kernel/authz/ability.js';
import type { Context } from '../../../kernel/context.js';
import { batched, batchOfLists, listKey, runTogether, type SharedRun } from '../../../kernel/database/batched.js';
import { emOf } from '../../../kernel/database/database.js';
import { AppError } from '../../../kernel/errors.js';
import { type Counted, counted, Page, timeCursorKey, timePageBounds } from '../../../kernel/paging.js';
import { parse } from '../../../kernel/validation.js';
import type { CertificateType } from '../../certificates/public.js';
import type { ProjectReader } from '../../projects/public.js';
import { type AlertView, CertificateAlert, findAlertViews, listAlertViews } from '../alerts/public.js';
import { listMessagesAbout, type MessageRow } from './alert-delivery.queries.js';
import { ListDecisions } from './alert-delivery.rules.js';
import { type AlertState, findSubjects, listAlertStates } from './alert-delivery.sql.js';
import { mayRead } from './match.service.js';
import { type MatchVerdict, matchingCertificates, verdictsOf } from './matching.js';

const NOT_FOUND = 'CERTIFICATE_NOT_FOUND';
const SUBJECT = { find: findSubjects, notFound: NOT_FOUND } as const;
const DAY_MS = 86_400_000;

/** The outcome of an alert for a certificate. `notified`, `pending` and `failed` depend on its messages. */
const OUTCOMES = ['notified', 'pending', 'failed'] as const;
type Outcome = (typeof OUTCOMES)[number] | MatchVerdict;

/** Why an alert notified of a certificate, or did not. */
export interface Decision {
  readonly alert: Awaited<ReturnType<typeof findAlertViews>>[number];
  readonly outcome: Outcome;
  /** When it will notify; null unless it is not due yet. */
  readonly dueAt: Date | null;
  readonly messages: readonly MessageRow[];
}

/** Explains alerts by the same verdicts that decide whether they notify. */
export class DecisionService {
  constructor(private readonly projects: ProjectReader) {}

  /**
   * What each alert of the project has done or will do about a certificate; newest alert first.
   *
   * @throws VALIDATION_FAILED, CERTIFICATE_NOT_FOUND, PERMISSION_DENIED, AUDIT_UNAVAILABLE
   */
  async list(ctx: Context, raw: unknown): Promise<Page<Decision> & Counted> {
    const { certificateId: id, ...request } = parse(ListDecisions, raw);
    const { time, id: afterId, limit } = timePageBounds(request);
    const { row: subject, project } = await this.projects.authorizedItem(ctx, { id }, SUBJECT, 'pki-alerts:read');
    if (!mayRead(project)(subject)) throw new AppError(NOT_FOUND);
    const states = await listAlertStates(ctx, { certificateId: subject.id, time, afterId, limit });
    const verdicts = await verdictsOf(subject, states);
    const alertIds = states.map((state) => state.id);
    const alerts = new Map((await findAlertViews(ctx, { ids: alertIds })).map((alert) => [alert.id, alert]));
    const about = await listMessagesAbout(ctx, { alertIds, certificateId: subject.id });
    const messages = Map.groupBy(about, ({ alertId }) => alertId);
    const decisions = states.flatMap((state, at): Decision[] => {
      const alert = alerts.get(state.id);
      // Deleted in the meantime.
      if (alert === undefined) return [];
      return [
        decisionOf(alert, { state, verdict: verdicts[at] as MatchVerdict, messages: messages.get(alert.id) ?? [] }),
      ];
    });
    const page = new Page(decisions, request, ({ alert }) => timeCursorKey(alert.createdAt, alert.id));
    const facts = { certificateId: subject.id, count: page.nodes.length };
    const { projectId } = project;
    await ctx.auditTrail.recordRead(ctx, { action: 'certificate-alert:list-decisions', projectId, facts });
    return counted(page, () => emOf(ctx).count(CertificateAlert, { projectId }));
  }
}

function decisionOf(
  alert: Decision['alert'],
  { state, verdict, messages }: { state: AlertState; verdict: MatchVerdict; messages: readonly MessageRow[] },
): Decision {
  const states = new Set(messages.map(({ state }) => state));
  const sent = states.has('pending') ? 'pending' : states.has('sent') ? 'notified' : null;
  const outcome = sent ?? (messages.length > 0 ? 'failed' : verdict);
  const dueAt = outcome === 'not_due_yet' && state.beginsAt !== null ? nextMidnight(state.beginsAt) : null;
  return { alert, outcome, dueAt, messages };
}

/** Alerts are checked at midnight UTC. */
const nextMidnight = (time: Date): Date => new Date(Math.ceil(time.getTime() / DAY_MS) * DAY_MS);

/** Alerts whose filters match a certificate. */
export class CertificateAlerts {
  constructor(private readonly projects: ProjectReader) {}

  /** Alerts that match a certificate nested in a response, newest first; statements are shared. @throws PERMISSION_DENIED */
  async of(ctx: Context, certificate: CertificateType): Promise<readonly AlertView[]> {
    const { projectId } = certificate;
    authorize(await this.projects.loadOwning(ctx, projectId, 'CERTIFICATE_NOT_FOUND'), 'pki-alerts:read');
    const alerts = (await batched(ctx, alertsByProject, listKey(projectId, {}))) ?? [];
    return runTogether(ctx, chosen, { certificate, alerts });
  }
}

const alertsByProject = batchOfLists<AlertView, object>(
  (ctx, projectIds) => listAlertViews(ctx, { projectIds }),
  ({ projectId }) => projectId,
);

interface Choice {
  readonly certificate: CertificateType;
  readonly alerts: readonly AlertView[];
}

/** Batched over all certificates of a response, so that the audit trail gets one record per project. */
const chosen: SharedRun<Choice, readonly AlertView[]> = async (ctx, choices) => {
  const lists: (readonly AlertView[])[] = [];
  for (const { certificate, alerts } of choices) {
    const compared = { ...certificate, profileName: certificate.profileSlug };
    const list: AlertView[] = [];
    for (const alert of alerts)
      if ((await matchingCertificates(alert.filters, [compared])).length > 0) list.push(alert);
    lists.push(list);
  }
  const shown = new Map(lists.flat().map((alert) => [alert.id, alert]));
  for (const [projectId, alerts] of Map.groupBy(shown.values(), (alert) => alert.projectId))
    await ctx.auditTrail.recordRead(ctx, {
      action: 'certificate-alert:list',
      projectId,
      facts: { count: alerts.length },
    });
  return lists;
};
