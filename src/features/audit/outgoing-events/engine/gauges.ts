import { storedGauges } from '../../../../kernel/operations/metrics/stored-gauge.js';
import { measureTargets } from './target-progress.sql.js';

/** Change webhooks and audit sinks in the metrics. */
export const DELIVERY_GAUGES = storedGauges({
  read: (query) => measureTargets(query, {}),
  labels: { kind: 'kind' },
  gauges: [
    {
      name: 'strongroom_deliveries_enabled',
      help: 'Enabled change webhooks and audit sinks.',
      value: ({ enabled }) => enabled,
    },
    {
      name: 'strongroom_deliveries_failing',
      help: 'Change webhooks and audit sinks whose last delivery failed.',
      value: ({ failing }) => failing,
    },
    {
      name: 'strongroom_delivery_lag_seconds',
      help: 'Age of the oldest record that a change webhook or an audit sink has not received, of the one furthest behind.',
      value: ({ lagSeconds }) => lagSeconds,
    },
  ],
});
