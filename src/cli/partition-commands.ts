import { listPartitions, type Partition, partitionRows } from '../domain/ops/partitions.ts';
import { alignColumns, type Command, CommandError, fileOf, prepareTo, writeGzip } from './command.ts';
import { withApp } from './open-service.ts';

const MIB = 1024 * 1024;

function idsOf({ start, end }: Partition): string {
  if (end === null) return `from ${start ?? 0}`;
  return start === null ? `below ${end}` : `${start} to ${end - 1}`;
}

export const listPartitionsCommand: Command = {
  name: 'partitions',
  parameters: '',
  summary: 'List the partitions of the tables that only grow, with their ids, rows (estimated) and size.',
  words: [0, 0],
  runsInService: true,
  run: (call) =>
    withApp(call, async ({ db }) => {
      const partitions = await listPartitions(db);
      const rows = partitions.map((one) => [
        one.table,
        one.name,
        idsOf(one),
        String(one.rows),
        `${(one.bytes / MIB).toFixed(1)} MiB`,
      ]);
      return { text: alignColumns([['TABLE', 'PARTITION', 'IDS', 'ROWS', 'SIZE'], ...rows]), data: { partitions } };
    }),
};

export const exportPartitionCommand: Command = {
  name: 'partitions export',
  parameters: 'PARTITION --to FILE',
  summary: 'Write the rows of a partition, for an archive of what is deleted after its time.',
  details: [
    'PARTITION    a name from the list',
    '--to FILE    a new file (.ndjson.gz), readable by its owner only: one object a line, oldest row first',
    '',
    'Nothing is deleted. Rows go when their time is over (AUDIT_LOG_RETENTION_DAYS; events after 7 days, deliveries after 30, clicks after 400),',
    'and a partition that they have left empty is removed. Entries of the ledger stay.',
  ].join('\n'),
  options: { to: { type: 'string' } },
  words: [1, 1],
  runsInService: true,
  prepare: prepareTo,
  run: (call) => {
    const [name] = call.words;
    const path = fileOf(call);
    return withApp(call, async (app) => {
      const partition = (await listPartitions(app.db)).find((one) => one.name === name);
      if (!partition) throw new CommandError(`There is no partition ${name}: see the list of \`partitions\`.`);
      await writeGzip(path, partitionRows(app, partition.name));
      return { text: `The rows of ${partition.name} are in ${path}.`, data: { partition: partition.name, file: path } };
    });
  },
};
