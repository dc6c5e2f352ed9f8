import { runProgram } from './programs.ts';

/** What the built `verify-audit` said of a trail. */
export interface Verdict {
  readonly code: number | null;
  /** The faults, one a line, without the counts below them. */
  readonly faults: readonly string[];
  /** Secrets that differ from the trail, one a line. */
  readonly differences: readonly string[];
  /** `NUMBER:HASH` of the last seal. */
  readonly head: string | undefined;
  readonly rows: number;
  readonly unsealed: number;
  /** Rows that were dropped because they had ended. */
  readonly expired: number;
  readonly seals: number;
  readonly output: string;
}

/** Runs `verify-audit` with these settings. */
export async function verifyAudit(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Verdict> {
  const { code, output } = await runProgram('verify-audit', env, ...args);
  const lines = output.trim().split('\n');
  const [, rows, unsealed, seals] = /(\d+) rows, (\d+) of them not sealed yet, (\d+) seals/.exec(output) ?? [];
  return {
    code,
    faults: lines.filter((line) => /^((row|seals?) -?\d|disclosure |expiry )/.test(line)),
    differences: lines.filter((line) => /^(personal )?secret /.test(line)),
    head: /^head (\S+)$/m.exec(output)?.[1],
    rows: Number(rows),
    unsealed: Number(unsealed),
    expired: Number(/^(\d+) rows were dropped/m.exec(output)?.[1] ?? 0),
    seals: Number(seals),
    output,
  };
}
