/** The manifests in deploy/kubernetes: their form, and that they name what the image and the service have. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { namesOf, SECTIONS } from '../../../src/core/env-schema.ts';
import { secretKeys, settingKeys } from '../../../src/domain/settings/catalogue/catalogue.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const folder = join(root, 'deploy', 'kubernetes');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

interface Manifest {
  apiVersion: string;
  kind: string;
  // Their form is checked by the schemas of Kubernetes.
  // biome-ignore lint/suspicious/noExplicitAny: each test reads another part of them
  [field: string]: any;
}

const manifests = new Map<string, Manifest>();
for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (path.endsWith('.yaml')) manifests.set(path.replaceAll('\\', '/'), parse(readFileSync(join(folder, path), 'utf8')));
}
const [deployment, configuration, secret, ingress, service, autoscaler] = [
  ...['deployment', 'configuration', 'separate/secret', 'ingress', 'service', 'separate/autoscaler'],
].map((name) => manifests.get(`${name}.yaml`)!) as [Manifest, Manifest, Manifest, Manifest, Manifest, Manifest];

type Validate = ((data: unknown) => boolean) & { errors?: unknown };

/** Module of the validator in the package of schemas, by kind. */
const SCHEMAS: Record<string, string> = {
  'apps/v1 Deployment': 'IoK8sApiAppsV1Deployment',
  'autoscaling/v2 HorizontalPodAutoscaler': 'IoK8sApiAutoscalingV2HorizontalPodAutoscaler',
  'networking.k8s.io/v1 Ingress': 'IoK8sApiNetworkingV1Ingress',
  'policy/v1 PodDisruptionBudget': 'IoK8sApiPolicyV1PodDisruptionBudget',
  'v1 ConfigMap': 'IoK8sApiCoreV1ConfigMap',
  'v1 PersistentVolumeClaim': 'IoK8sApiCoreV1PersistentVolumeClaim',
  'v1 Secret': 'IoK8sApiCoreV1Secret',
  'v1 Service': 'IoK8sApiCoreV1Service',
};

async function problemsOf(manifest: Manifest): Promise<unknown[]> {
  const { validate } = (await import(`kubernetes-models/_schemas/${SCHEMAS[`${manifest.apiVersion} ${manifest.kind}`]}`)) as {
    validate: Validate;
  };
  const unread = new Set<string>();
  const isValid = validate(watched(manifest, '', unread));
  return [...(isValid ? [] : [validate.errors]), ...[...unread].map((path) => `${path} is no field`)];
}

/** The schemas accept unknown fields, but a validator reads each field that it knows: what it has not read, it does not know. */
function watched(value: unknown, path: string, unread: Set<string>): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item, at) => watched(item, `${path}/${at}`, unread));
  const fields = Object.entries(value).map(([name, inner]): [string, unknown] => [
    name,
    watched(inner, `${path}/${name}`, unread),
  ]);
  for (const [name] of fields) unread.add(`${path}/${name}`);
  return new Proxy(Object.fromEntries(fields), {
    get: (of, name) => {
      unread.delete(`${path}/${String(name)}`);
      return Reflect.get(of, name);
    },
  });
}

describe('the form of', () => {
  test.each([...manifests.keys()])('%s', async (path) => {
    expect(await problemsOf(manifests.get(path)!)).toEqual([]);
  });

  test('a manifest with a misspelt field is refused', async () => {
    const spec = structuredClone(deployment.spec);
    spec.template.spec.containers[0].readinesProbe = {};
    expect(await problemsOf({ ...deployment, spec })).toEqual(['/spec/template/spec/containers/0/readinesProbe is no field']);
  });

  test('a manifest with a value of another type is refused', async () => {
    const [problem] = await problemsOf({ ...deployment, spec: { ...deployment.spec, replicas: 'two' } });
    expect(problem).toEqual([expect.objectContaining({ instancePath: '/spec/replicas', keyword: 'type' })]);
  });
});

describe('the environment', () => {
  const variables: Record<string, string> = configuration.data;
  const secrets = Object.keys(secret.stringData);
  const ofStart = Object.values(SECTIONS).flatMap((shape) =>
    Object.entries(shape).flatMap(([name, schema]) => namesOf(name, schema)),
  );
  const known = new Set<string>([...ofStart, ...settingKeys, 'BOT_TOKEN']);

  test('has only variables that the service reads', () => {
    const names = Object.keys(variables).map((name) => name.replace(/_FILE$/, ''));
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });

  test('names a file of the secret for each key of it, and no other file', () => {
    const files = Object.entries(variables).filter(([name]) => name.endsWith('_FILE'));
    expect(files).toEqual(secrets.map((name) => [`${name}_FILE`, `/secrets/${name}`]));
  });

  test('has no secret as a plain value', () => {
    const isSecret = (name: string) => secretKeys.some((key) => key === name) || /(PASSWORD|SECRET|TOKEN)$/.test(name);
    expect(Object.keys(variables).filter(isSecret)).toEqual([]);
  });
});

describe('the pod', () => {
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;

  test('has the port, the folder and the user of the image', () => {
    const dockerfile = read('Dockerfile');
    expect(dockerfile).toMatch(new RegExp(`^EXPOSE ${container.ports[0].containerPort}$`, 'm'));
    expect(dockerfile).toMatch(/^ +DATA_DIR=\/data \\$/m);
    expect(container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)).toContain('/data');
    const { runAsUser, runAsGroup } = pod.securityContext;
    expect(dockerfile).toMatch(new RegExp(`^USER ${runAsUser}:${runAsGroup}$`, 'm'));
    expect(read('compose.yaml')).toContain(`${runAsUser} = node in ours`);
    expect(dockerfile).toContain('> /system/usr/local/bin/cli');
  });

  test('is probed where the image is, and for readiness where the balancer of the documents is', () => {
    expect(read('Dockerfile')).toContain(container.livenessProbe.httpGet.path);
    const router = read('src/routers/web/health.router.ts');
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      expect(router).toContain(`method: 'GET', path: '${container[probe].httpGet.path}'`);
      expect(container[probe].httpGet.port).toBe(container.ports[0].name);
    }
    expect(container.readinessProbe.httpGet.path).toBe('/readyz');
  });

  test('is left by the balancer before the drain ends, and killed after the stop', () => {
    const { SHUTDOWN_DRAIN_MS: drain, SHUTDOWN_TIMEOUT_MS: stop } = configuration.data;
    const { periodSeconds, failureThreshold, timeoutSeconds } = container.readinessProbe;
    expect(periodSeconds * failureThreshold + timeoutSeconds).toBeLessThan(Number(drain) / 1000);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan((Number(drain) + Number(stop)) / 1000);
  });

  test('can write nothing but its volumes, and is not root', () => {
    for (const one of [...pod.initContainers, ...pod.containers]) {
      expect(one.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, fsGroup: pod.securityContext.runAsGroup });
  });
});

test('the parts name each other', () => {
  const { name, labels } = deployment.metadata;
  const names = [...manifests.values()]
    .filter(({ kind }) => kind !== 'PersistentVolumeClaim')
    .map(({ metadata }) => metadata.name);
  expect(new Set(names)).toEqual(new Set([name]));
  const selectors = [deployment.spec.selector.matchLabels, service.spec.selector, deployment.spec.template.metadata.labels];
  expect(selectors).toEqual([labels, labels, labels]);
  const { port } = service.spec.ports[0];
  expect([port, ingress.spec.rules[0].http.paths[0].backend.service.port.name]).toEqual([80, service.spec.ports[0].name]);
  expect(deployment.spec.replicas).toBeGreaterThanOrEqual(2);
  expect(autoscaler.spec.minReplicas).toBe(deployment.spec.replicas);
});
