import type { StoredGauge } from '../../../kernel/operations/metrics/stored-gauge.js';
import { measureTargets } from './target-progress.sql.js';

type Figures = Awaited<ReturnType<typeof measureTargets>>[number];

const gauge = (name: string, help: string, figureOf: (figures: Figures) => number): StoredGauge => ({
  name,
  help,
  label: 'kind',
  read: async (query) =>
    (await measureTargets(query, {})).map((figures) => ({ label: figures.kind, value: figureOf(figures) })),
});

/** Change webhooks and audit sinks in the metrics. */
export const DELIVERY_GAUGES: readonly StoredGauge[] = [
  gauge('strongroom_deliveries_enabled', 'Enabled change webhooks and audit sinks.', ({ enabled }) => enabled),
  gauge(
    'strongroom_deliveries_failing',
    'Change webhooks and audit sinks whose last delivery failed.',
    ({ failing }) => failing,
  ),
  gauge(
    'strongroom_delivery_lag_seconds',
    'Age of the oldest record that a change webhook or an audit sink has not received, of the one furthest behind.',
    ({ lagSeconds }) => lagSeconds,
  ),
];
