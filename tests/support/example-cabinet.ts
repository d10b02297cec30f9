import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installTarball, linkInstalledPackages, type PackedClient, packClient } from '../../scripts/pack-client.ts';
import { eventually } from './eventually.ts';
import { run } from './page-and-service.ts';

/** The example cabinet in a folder of a test, as its authors would have it: the tarball of the client package and nothing of the service. */

const root = join(import.meta.dirname, '..', '..');
const INSTALLED_PACKAGES = ['react', 'react-dom', 'scheduler', 'csstype', 'vite', '@types/react', '@types/react-dom'];

/**
 * Packs the client package, which is built first where it is not, and installs it beside a copy of the example.
 * @returns the folder of the example, which is not built yet
 */
export async function installCabinet(folder: string): Promise<{ project: string; packed: PackedClient }> {
  const packed = await packClient(join(folder, 'tarball'));
  const project = join(folder, 'cabinet');
  const isSource = (path: string) => !/[\\/](?:node_modules|dist)$/.test(path);
  await cp(join(root, 'examples', 'cabinet'), project, { recursive: true, filter: isSource });
  await installTarball(packed.tarball, project);
  await linkInstalledPackages(project, INSTALLED_PACKAGES);
  return { project, packed };
}

/** Bundles the example for a service. */
export async function buildCabinet(project: string, serviceUrl: string): Promise<void> {
  await writeFile(join(project, '.env.production.local'), `VITE_API_URL=${serviceUrl}\n`);
  run([join(root, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', '--logLevel', 'warn'], project);
}

interface SandboxState {
  mail: { to: string; text: string }[];
}

/** The address that a mail of the sandbox leads to. @param path of the page, for example `verify-email` */
export async function linkInMail(serviceUrl: string, to: string, path: string): Promise<string> {
  const wanted = new RegExp(`https?://\\S+/${path}\\?token=[\\w.~%-]+`);
  return eventually(async () => {
    const state = (await (await fetch(`${serviceUrl}/sandbox/api/state`)).json()) as SandboxState;
    const link = state.mail.map((mail) => (mail.to === to ? wanted.exec(mail.text)?.[0] : undefined)).find(Boolean);
    if (!link) throw new Error(`There is no mail with a link to ${path} for ${to} yet`);
    return link;
  });
}

/** A call over REST. @throws Error with the answer unless it succeeded */
export async function callService<Answer>(
  serviceUrl: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const response = await fetch(`${serviceUrl}${path}`, {
    method,
    headers: isForm || !body ? headers : { ...headers, 'content-type': 'application/json' },
    body: isForm ? body : body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Answer;
}
