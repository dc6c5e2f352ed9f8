// Loaded before the service (`--import`): its clock is ahead by `ms` of the query of this file's address. Only dates shift:
// timers and `performance.now()` run on, as they do on a machine whose clock is wrong.
const aheadMs = Number(new URL(import.meta.url).searchParams.get('ms'));
const TrueDate = Date;

globalThis.Date = class extends TrueDate {
  constructor(...parts) {
    if (parts.length === 0) super(TrueDate.now() + aheadMs);
    else super(...parts);
  }

  static now() {
    return TrueDate.now() + aheadMs;
  }
};
