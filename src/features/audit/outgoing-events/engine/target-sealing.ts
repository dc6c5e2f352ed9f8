import type { Context } from '../../../../kernel/context.js';
import { keyIdOf } from '../../../../kernel/crypto/seal.js';
import type { SealedTable } from '../../../../kernel/crypto/sealed-table.js';
import { SealedText } from '../../../../kernel/crypto/sealed-text.js';
import { queryOf } from '../../../../kernel/database/database.js';
import { type Target, TargetConfig, type TargetKind } from './target.js';

/** Configurations of targets that belong to projects. */
export const SEALED_WEBHOOKS: SealedTable = {
  table: 'change_webhook',
  rowId: 'id',
  columns: { config: 'config_version' },
};

type Sealed = Pick<Target, 'id' | 'organizationId' | 'projectId' | 'configVersion'>;

const placeOf = (table: TargetKind['table'], { id, configVersion }: Sealed) => ({
  table,
  column: 'config',
  rowId: id,
  rowVersion: configVersion,
});

/** Seals the configuration of a target for its row and version. @throws KEY_DISABLED */
export async function sealTarget(
  ctx: Context,
  table: TargetKind['table'],
  target: Sealed,
  config: TargetConfig,
): Promise<Buffer> {
  const sealer = await ctx.keyring.sealer(queryOf(ctx), target);
  await sealer.reserve(1);
  return sealer.seal(placeOf(table, target), new SealedText(JSON.stringify(config)));
}

/** Decrypts the configuration of a target. @throws SEALED_VALUE_INVALID, KEY_DISABLED */
export async function openTarget(
  ctx: Context,
  table: TargetKind['table'],
  target: Sealed & Pick<Target, 'configSealed'>,
): Promise<TargetConfig> {
  const { organizationId, projectId, configSealed } = target;
  const keyIds = new Map([[projectId, [keyIdOf(configSealed)]]]);
  const sealers = await ctx.keyring.sealers(queryOf(ctx), organizationId, keyIds);
  const text = sealers.get(projectId)?.open(placeOf(table, target), configSealed);
  return TargetConfig.parse(JSON.parse(text?.reveal() ?? 'null'));
}

/** The configuration of a target after a change, sealed as its next version. @throws SEALED_VALUE_INVALID, KEY_DISABLED */
export async function resealTarget(
  ctx: Context,
  table: TargetKind['table'],
  { id, organizationId, projectId, configVersion, configSealed }: Sealed & Pick<Target, 'configSealed'>,
  change: (before: TargetConfig) => TargetConfig,
) {
  const target = { id, organizationId, projectId };
  const before = await openTarget(ctx, table, { ...target, configVersion, configSealed });
  const next = { ...target, configVersion: configVersion + 1 };
  return { configVersion: next.configVersion, configSealed: await sealTarget(ctx, table, next, change(before)) };
}
