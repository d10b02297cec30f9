import type { SqlDriverAdapterFactory, SqlQueryable } from '@prisma/driver-adapter-utils';
import type { SpanAttributes, Tracing } from '../telemetry/tracing.ts';
import type { BeginTransaction, SqlRunner } from './db.ts';

interface StatementName {
  name: string;
  attributes: SpanAttributes;
}

/** By text; bounded, because lists with optional conditions have many texts. */
const names = new Map<string, StatementName>();
const MAX_NAMES = 1_000;
const MAX_TEXT = 1_000;

/** The span of a statement: operation and first table as its name, and the text without values. */
function statementName(text: string): StatementName {
  const known = names.get(text);
  if (known !== undefined) return known;
  const plain = withoutValues(text);
  const operation = /^\W*(\w+)/.exec(plain)?.[1]?.toUpperCase() ?? 'SQL';
  const table = /\b(?:FROM|INTO|UPDATE|JOIN)\s+(?:ONLY\s+)?"?(?:public"?\.)?"?([a-z_][\w.]*)/i.exec(plain)?.[1];
  const made: StatementName = {
    name: table === undefined ? operation : `${operation} ${table}`,
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.text': plain.slice(0, MAX_TEXT) },
  };
  if (names.size < MAX_NAMES) names.set(text, made);
  return made;
}

/** Values are parameters; should a text contain one, it is masked. */
function withoutValues(text: string): string {
  return text
    .replace(/'(?:[^']|'')*'/g, '?')
    .replace(/\s+/g, ' ')
    .trim();
}

/** The same statements, each as a span of the current trace. */
export function tracedSql(sql: SqlRunner, tracing: Tracing): SqlRunner {
  return (text, values) => {
    const { name, attributes } = statementName(text);
    return tracing.inSpan('client', name, attributes, () => sql(text, values));
  };
}

/**
 * Transactions as spans. The trace is set for the transaction, where `send_job()` finds it: also jobs that SQL functions and triggers send
 * belong to the trace.
 */
export function tracedBegin(begin: BeginTransaction, tracing: Tracing): BeginTransaction {
  return (work) =>
    tracing.inSpan('internal', 'transaction', {}, (span) => {
      if (span === null) return begin(work);
      const traceparent = tracing.traceparent();
      return begin(async (tx, sql) => {
        await sql("SELECT set_config('service.traceparent', $1, true) AS trace", [traceparent]);
        return work(tx, sql);
      });
    });
}

/** Lets the statements of Prisma Client be spans as well. @param factory is changed */
export function traceAdapter(factory: SqlDriverAdapterFactory, tracing: Tracing): void {
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await connect();
    traceQueries(adapter, tracing);
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolationLevel) => {
      const transaction = await start(isolationLevel);
      traceQueries(transaction, tracing);
      return transaction;
    };
    return adapter;
  };
}

function traceQueries(target: SqlQueryable, tracing: Tracing): void {
  const [query, execute] = [target.queryRaw.bind(target), target.executeRaw.bind(target)];
  const traced = <T>(text: string, work: () => Promise<T>) => {
    const { name, attributes } = statementName(text);
    return tracing.inSpan('client', name, attributes, work);
  };
  target.queryRaw = (statement) => traced(statement.sql, () => query(statement));
  target.executeRaw = (statement) => traced(statement.sql, () => execute(statement));
}
