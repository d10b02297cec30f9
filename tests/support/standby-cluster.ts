/** A PostgreSQL primary of its own with one streaming standby. */
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { freePort } from '../../packages/measures/src/free-port.ts';
import { placeFor, runShell, type ServerTools } from './archiving-cluster.ts';

export interface StandbyCluster {
  /** Of the database `service` on the primary. */
  url: string;
  /** Of the same database on the standby. */
  standbyUrl: string;
  stopStandby(): Promise<void>;
  startStandby(): Promise<void>;
  /** Makes the standby a primary. */
  promote(): Promise<void>;
  /** Replaces the standby, whatever it has become, by a new copy of the primary. */
  renewStandby(): Promise<void>;
  /** Stops both and removes everything. */
  remove(): Promise<void>;
}

export async function createStandbyCluster({ bin, owner }: ServerTools): Promise<StandbyCluster> {
  const folder = await mkdtemp(join(placeFor(owner), 'standby-'));
  const port = await freePort();
  const standbyPort = await freePort();
  const env = { PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`, LC_ALL: 'C', PGUSER: 'postgres', PGHOST: folder };
  const shell = (script: string) => runShell(script, { cwd: folder, env, ...owner });
  const places: Readonly<Record<string, number>> = { primary: port, standby: standbyPort };
  // The time limits only end what hangs.
  const start = (name: string) =>
    shell(
      `pg_ctl -D ${name} -w -t 300 -l ${name}.log -o "-p ${places[name]} -k '${folder}' -c listen_addresses=127.0.0.1 -c fsync=off" start`,
    );
  const stop = (name: string) => shell(`pg_ctl -D ${name} -w -t 300 -m immediate stop`);
  const isRunning = (name: string) =>
    shell(`pg_ctl -D ${name} status`).then(
      () => true,
      () => false,
    );
  const copy = `pg_basebackup -p ${port} -D standby -R --checkpoint=fast --no-sync`;
  const cluster: StandbyCluster = {
    url: `postgresql://postgres@127.0.0.1:${port}/service`,
    standbyUrl: `postgresql://postgres@127.0.0.1:${standbyPort}/service`,
    stopStandby: async () => void (await stop('standby')),
    startStandby: async () => void (await start('standby')),
    promote: async () => void (await shell('pg_ctl -D standby -w -t 300 promote')),
    renewStandby: async () => {
      if (await isRunning('standby')) await stop('standby');
      await shell(`rm -rf standby && ${copy}`);
      await start('standby');
    },
    remove: async () => {
      for (const name of Object.keys(places)) if (await isRunning(name)) await stop(name);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    await chown(folder, owner.uid, owner.gid);
    await chmod(folder, 0o755);
    await shell('initdb -D primary -A trust -U postgres --no-sync');
    await start('primary');
    await shell(`createdb -p ${port} service`);
    await cluster.renewStandby();
    return cluster;
  } catch (error) {
    await cluster.remove();
    throw error;
  }
}
