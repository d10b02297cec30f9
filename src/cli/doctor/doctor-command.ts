import { connectOutsideSystems } from '../../composition/outside-systems.ts';
import { fakeKinds } from '../../composition/sandbox.ts';
import { openDatabase, readVersion } from '../../composition/service.ts';
import { systemClock } from '../../core/clock.ts';
import type { Database } from '../../core/db/database.ts';
import { type Env, EnvError, loadEnv } from '../../core/env.ts';
import { createMetrics } from '../../core/metrics.ts';
import { createRedactor, secretValuesIn } from '../../core/redaction.ts';
import { isImported } from '../../domain/import/switch-over.ts';
import { secretKeys } from '../../domain/settings/catalogue/catalogue.ts';
import { createSettingsStore, readStoredSettings, type SettingsStore } from '../../domain/settings/settings-store.ts';
import { type Command, type CommandCall, EXIT } from '../command.ts';
import { describeDatabaseFailure, describeLock } from '../describe-failure.ts';
import { commandLog, describeDatabase, hasEmbeddedData } from '../open-service.ts';
import {
  checkAccess,
  checkBackups,
  checkJobs,
  checkMissedCallbacks,
  checkMoney,
  checkPaymentCases,
  checkProvisioning,
  checkReceipts,
  checkWebhooks,
} from './content-checks.ts';
import { checkSales, describeFindings, type Finding, ok, problem, readSaleFacts, type SaleFacts, warning } from './finding.ts';
import { checkOutside } from './outside-checks.ts';
import {
  checkDataFolder,
  checkDisk,
  checkEnvironment,
  checkMigrations,
  checkPublicUrls,
  checkRuntime,
  checkSandbox,
  checkServer,
} from './process-checks.ts';

export const doctorCommand: Command = {
  name: 'doctor',
  parameters: '',
  summary: 'Check configuration, database, panel, messenger and mail, and say what to do.',
  details: 'Changes nothing. Exit code 1 when there is a problem; warnings alone are 0.',
  words: [0, 0],
  run: async (call) => {
    const redactor = createRedactor(secretValuesIn(definedOnly(call.terminal.source)));
    const findings = (await examine(call)).map((finding) => ({
      ...finding,
      detail: redactor.text(finding.detail),
      next: finding.next,
    }));
    const hasProblem = findings.some((finding) => finding.verdict === 'problem');
    return {
      text: describeFindings(findings),
      data: { ok: !hasProblem, findings },
      exitCode: hasProblem ? EXIT.failed : EXIT.ok,
    };
  },
};

async function examine(call: CommandCall): Promise<Finding[]> {
  const findings = [checkRuntime(process.version, await readVersion())];
  const { env, problems } = readEnvironment(call);
  const log = await commandLog(call);
  const settings = createSettingsStore({ environment: env?.raw ?? definedOnly(call.terminal.source), log });
  findings.push(checkEnvironment([...problems, ...settings.problems], env));
  // Without a usable environment all further checks would be about another installation.
  if (!env) return findings;
  findings.push(await checkDataFolder(env.dataDir), await checkDisk(env.dataDir));
  const stored = await checkDatabase(call, env, settings);
  findings.push(...stored.findings);
  findings.push(checkPublicUrls(env, settings));
  const fakes = fakeKinds(env, settings);
  findings.push(checkSandbox(env, fakes));
  const metrics = createMetrics();
  try {
    const instance = {
      version: () => '',
      sandboxKinds: () => fakes,
      poolCounters: () => ({ size: 0, inUse: 0, waiting: 0 }),
      isReady: () => false,
      isStuck: () => false,
      clockSkewMs: () => 0,
    };
    const ports = connectOutsideSystems({ env, db: null, settings, clock: systemClock, log, metrics, sandbox: null, instance });
    findings.push(...(await checkOutside({ env, settings, ports, fakes, sales: stored.sales, isImported: stored.isImported })));
    ports.mail.close();
  } finally {
    metrics.close();
  }
  return hideSettings(findings, settings);
}

/** What the database says; `sales` is null where it cannot be read. */
interface StoredFacts {
  findings: Finding[];
  sales: SaleFacts | null;
  isImported: boolean;
}

/** Opens and checks the database, and loads its stored settings into `settings`. */
async function checkDatabase(call: CommandCall, env: Env, settings: SettingsStore): Promise<StoredFacts> {
  const without = (...findings: Finding[]): StoredFacts => ({ findings, sales: null, isImported: false });
  if (env.databaseUrl === null && !(await hasEmbeddedData(env.dataDir))) {
    return without(ok('database', 'embedded; not made yet', 'The first start makes it. For PostgreSQL set DATABASE_URL.'));
  }
  let database: Database;
  try {
    database = await openDatabase(env, await commandLog(call));
  } catch (error) {
    // Any failure: a database that cannot be reached is the finding.
    if (error instanceof Error && error.name === 'FolderInUseError') {
      const next =
        'For those checks stop the service and run doctor again. Settings stored in the database are not considered below.';
      return without(warning('database', `${describeLock(error).split('\n', 1)[0]} Its checks are left out.`, next));
    }
    const detail = describeDatabaseFailure(error) ?? (error instanceof Error ? error.message : String(error));
    const next = 'Correct DATABASE_URL or the server; the service does not start before.';
    return without(problem('database', `${describeDatabase(env)}: ${detail}`, next));
  }
  try {
    const findings = await checkServer(database, env, describeDatabase(env));
    const { finding, isCurrent } = await checkMigrations(database);
    findings.push(finding);
    if (!isCurrent) return without(...findings);
    await readStoredSettings(database.db, settings);
    findings.push(
      ...(await checkAccess(database)),
      await checkJobs(database),
      await checkMoney(database),
      await checkPaymentCases(database),
      await checkMissedCallbacks(database, settings),
      await checkWebhooks(database),
      await checkReceipts(database, settings),
      ...(await checkBackups({ db: database.db, env, settings })),
      ...(await checkProvisioning(database)),
    );
    const sales = await readSaleFacts({ db: database.db, settings });
    return { findings: [...findings, ...checkSales(sales)], sales, isImported: await isImported(database) };
  } catch (error) {
    // Any failure: it is the finding.
    const detail = describeDatabaseFailure(error) ?? (error instanceof Error ? error.message : String(error));
    return without(problem('database', detail, 'Look at the log of the database server.'));
  } finally {
    await database.close();
  }
}

function readEnvironment(call: CommandCall): { env: Env | null; problems: readonly string[] } {
  try {
    return { env: loadEnv(call.terminal.source), problems: [] };
  } catch (error) {
    if (!(error instanceof EnvError)) throw error;
    return { env: null, problems: error.problems };
  }
}

/** Messages of outside systems must not show secrets that only the database has. */
function hideSettings(findings: readonly Finding[], settings: SettingsStore): Finding[] {
  const secrets = secretKeys.map((key) => settings.get(key)).filter((value): value is string => typeof value === 'string');
  const redactor = createRedactor(secrets);
  return findings.map((finding) => ({ ...finding, detail: redactor.text(finding.detail) }));
}

function definedOnly(source: CommandCall['terminal']['source']): Record<string, string> {
  return Object.fromEntries(Object.entries(source).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
