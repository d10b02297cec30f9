/** Commands of administrators to the ban system, for an app with the sandbox's (`WITH_BAN_SYSTEM`). What they change is there, not here. */
import { unique } from '../support/builders.ts';
import { workerSandbox } from '../support/test-sandbox.ts';
import { ADMIN, type AdminWrite, type Fixture } from './admin-write-samples.ts';

export const WITH_BAN_SYSTEM = { BAN_SYSTEM_ENABLED: 'true', SANDBOX_BAN_SYSTEM: 'true' };

const PATH = '/ban-system';

async function aBan({ boss }: Fixture): Promise<string> {
  const username = `banned-${unique()}`;
  const reply = await boss.post(`${ADMIN}${PATH}/ban`, { username });
  if (reply.status !== 200) throw new Error(reply.text);
  const { punishments } = await (await workerSandbox()).servers.banSystem.state();
  return punishments.find((punishment) => punishment.username === username)!.user_id;
}

export const BAN_SYSTEM_WRITES: Record<string, AdminWrite> = {
  [`POST ${PATH}/ban`]: {
    kind: 'summary',
    request: async () => ({ path: `${PATH}/ban`, body: { username: 'busy@example.com' } }),
  },
  [`POST ${PATH}/punishments/{user_id}/unban`]: {
    kind: 'summary',
    request: async (fixture) => ({ path: `${PATH}/punishments/${await aBan(fixture)}/unban` }),
  },
  [`POST ${PATH}/settings/{key}/toggle`]: {
    kind: 'summary',
    request: async () => ({ path: `${PATH}/settings/notifications_enabled/toggle` }),
  },
  [`POST ${PATH}/settings/whitelist/add`]: {
    kind: 'summary',
    request: async () => ({ path: `${PATH}/settings/whitelist/add`, body: { username: 'quiet@example.com' } }),
  },
  [`POST ${PATH}/settings/whitelist/remove`]: {
    kind: 'summary',
    request: async () => ({ path: `${PATH}/settings/whitelist/remove`, body: { username: 'quiet@example.com' } }),
  },
};

export const BAN_SYSTEM_WITHOUT_STATE: Record<string, string> = {
  [`POST ${PATH}/settings/{key}`]: 'its value is in the query: tests/api/ban-system.test.ts reads the row',
};
