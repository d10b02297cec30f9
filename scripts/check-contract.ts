/**
 * Fails for every operation, parameter, field and tag without a text, and for texts that nothing uses. Then compares the served
 * document with the published contract, for every tag group that is complete.
 *   npm run check:contract            needs ../shared/contract; without it (a clone alone) it says so and passes
 *   npm run check:contract -- --write FILE    writes the document only
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRouteTable } from '../src/rest/route-table.ts';
import { buildServiceDocument } from '../src/rest/service-document.ts';
import { appRouter } from '../src/routers/root.ts';

/** Groups whose every operation is served; a difference in one of them is a failure. */
const COMPLETE_TAGS = [
  ...['health', 'auth', 'users', 'webhooks', 'notifications', 'transactions', 'subscriptions', 'servers'],
  ...['Cabinet Admin Tariffs', 'Cabinet Admin Servers', 'Cabinet Admin Users', 'Cabinet Balance', 'Cabinet Account Merge'],
  ...['Cabinet Tickets', 'support', 'Cabinet Admin Tickets', 'media', 'Cabinet Media'],
  ...['broadcasts', 'Cabinet Admin Broadcasts', 'pinned-messages', 'Cabinet Admin Pinned Messages'],
  ...['backups'],
  ...['Cabinet Ticket Notifications', 'Cabinet Admin Ticket Notifications'],
  ...['contests', 'Cabinet Contests'],
  ...['polls', 'Cabinet Polls', 'Fortune Wheel', 'Admin Fortune Wheel'],
  ...['Cabinet Auth', 'Cabinet OAuth', 'Cabinet Account Linking'],
  ...['Admin RBAC', 'Admin RBAC Policies', 'Admin RBAC Audit Log'],
  ...['settings', 'Admin Settings', 'menu-layout', 'Admin Menu Layout', 'stats', 'logs'],
  ...['Branding', 'Admin Button Styles'],
  ...['partners', 'Cabinet Admin Partners', 'Cabinet Partner', 'Cabinet Referral'],
  ...['Cabinet Withdrawal', 'Cabinet Admin Withdrawals'],
  ...['vpnpanel', 'Cabinet Admin VpnPanel'],
  ...['promo-groups', 'Admin Promo Groups', 'promo-codes', 'Cabinet Promocode', 'Admin Promocodes'],
  ...['promo-offers', 'Admin Promo Offers', 'Cabinet Promo'],
  ...['campaigns', 'Cabinet Admin Campaigns'],
  ...['Landing Pages', 'Cabinet Admin Landings', 'Cabinet Gift', 'miniapp'],
  ...['Cabinet Subscription', 'Cabinet Admin Apps', 'Cabinet Admin Channels', 'Admin Traffic'],
  ...['Cabinet Admin Payment Methods', 'Cabinet Admin Payments'],
  ...['Cabinet Info', 'pages', 'main-menu', 'welcome-texts'],
  ...['Cabinet Admin Stats', 'Cabinet Admin Sales Stats', 'Cabinet Admin Referral Network'],
  ...['Admin Email Templates', 'Cabinet Notifications'],
  ...['Cabinet Admin Ban System', 'ban-notifications', 'Cabinet Admin Updates'],
];

const { document: described, gaps } = buildServiceDocument(buildRouteTable(appRouter));
const document = JSON.stringify(described);
const writeTo = process.argv[process.argv.indexOf('--write') + 1];
if (process.argv.includes('--write') && writeTo) {
  await writeFile(writeTo, document);
  process.exit(0);
}
const undescribed = [
  ...gaps.undescribed.map((what) => `without a text: ${what}`),
  ...gaps.unused.map((key) => `a text for nothing: ${key}`),
];
if (undescribed.length > 0) {
  console.error(`${undescribed.join('\n')}\n\n${undescribed.length} gaps in src/rest/descriptions. The name behind the kind is a key of
tag-descriptions.ts, of a file in operations/, of parameter-descriptions.ts, or, of a property, of a file in fields/.`);
  process.exit(1);
}
const diff = join(import.meta.dirname, '..', '..', 'shared', 'contract', 'diff.mjs');
if (!existsSync(diff)) {
  console.log('Left out: the contract is not beside this checkout.');
  process.exit(0);
}
const folder = await mkdtemp(join(tmpdir(), 'contract-'));
const file = join(folder, 'openapi.json');
await writeFile(file, document);

/** Lines of the diff. It ends by process.exit, which cuts the output to a pipe; a file gets everything. */
async function diffLines(...options: string[]): Promise<string[]> {
  const path = join(folder, 'diff.txt');
  const output = await open(path, 'w');
  spawnSync(process.execPath, [diff, file, ...options], { stdio: ['ignore', output.fd, 'inherit'] });
  await output.close();
  return (await readFile(path, 'utf8')).trim().split('\n');
}

const differences: string[] = [];
for (const tag of COMPLETE_TAGS) {
  const lines = (await diffLines('--tag', tag)).slice(0, -1);
  differences.push(...lines.map((line) => `[${tag}] ${line}`));
}
// What is served of the other groups must not differ either; what is missing there is not served yet.
const all = await diffLines('--all');
const served = all.filter(
  (line) =>
    line.startsWith('[') && !line.endsWith(': endpoint missing') && !COMPLETE_TAGS.some((tag) => line.startsWith(`[${tag}]`)),
);
differences.push(...served);
await rm(folder, { recursive: true });
console.log(all.at(-1));
if (differences.length > 0) {
  console.error(`${differences.join('\n')}\n\n${differences.length} differences from the contract.`);
  process.exit(1);
}
console.log(`The contract holds for ${COMPLETE_TAGS.length} complete groups, and for every operation served of the others.`);
