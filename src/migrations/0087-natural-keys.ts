import { Migration } from '@mikro-orm/migrations';

/** Gateways name certificates by their serial numbers, in whatever project they are. */
export class NaturalKeys extends Migration {
  override up(): void {
    this.addSql('create index certificate_serial_number_index on certificate (serial_number);');
  }
}
