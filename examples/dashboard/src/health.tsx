import { Panel, Stat, Table } from './panel.tsx';
import { client, useMay } from './service.ts';
import { count, useLanguage, useTexts, wordOf } from './texts.ts';
import { useInterval, useLoaded } from './use-loaded.ts';

const LOOK_AGAIN_MS = 15_000;
const HOUR_S = 3_600;

/** The service, its background work, the panel and its nodes. */
export function Health() {
  const may = useMay();
  return (
    <div className="grid">
      <ServicePanel />
      {may('vpnpanel:read') && <VpnPanel />}
      {may('stats:read') && <Nodes />}
      {may('stats:read') && <JobQueues />}
    </div>
  );
}

function ServicePanel() {
  const texts = useTexts();
  const language = useLanguage();
  const may = useMay();
  const health = useLoaded(() => client.open.health.check.query());
  const system = useLoaded(async () => (may('stats:read') ? client.admin.stats.systemInfo.query() : null));
  useInterval(health.reload, LOOK_AGAIN_MS, true);
  return (
    <Panel title={texts.service} loaded={health} testId="service">
      {({ status, api_version, features }) => (
        <dl className="figures">
          <Stat name={texts.status} value={status} testId="service-status" />
          <Stat name={texts.version} value={api_version} />
          {system.value && (
            <Stat
              name={texts.uptime}
              value={`${count(Math.round((system.value.uptime_seconds / HOUR_S) * 10) / 10, language)} ${texts.hours}`}
            />
          )}
          {Object.entries(features).map(([name, isOn]) => (
            <Stat key={name} name={name} value={isOn ? texts.on : texts.off} />
          ))}
        </dl>
      )}
    </Panel>
  );
}

function VpnPanel() {
  const texts = useTexts();
  const panel = useLoaded(() => client.admin.vpnpanel.status.query());
  useInterval(panel.reload, LOOK_AGAIN_MS, true);
  return (
    <Panel title={texts.panel} loaded={panel} testId="panel">
      {({ is_configured, connection, configuration_error }) => (
        <dl className="figures">
          <Stat name={texts.panel} value={is_configured ? texts.configured : (configuration_error ?? texts.notConfigured)} />
          {connection && <Stat name={texts.panelState} value={wordOf(texts, connection.status)} testId="panel-state" />}
        </dl>
      )}
    </Panel>
  );
}

function Nodes() {
  const texts = useTexts();
  const language = useLanguage();
  const nodes = useLoaded(() => client.admin.stats.nodes.query());
  useInterval(nodes.reload, LOOK_AGAIN_MS, true);
  return (
    <Panel title={texts.nodes} loaded={nodes} empty={(value) => (value.nodes.length ? null : texts.nothing)} isWide>
      {(value) => (
        <Table
          caption={texts.nodes}
          columns={[texts.node, texts.status, `#${texts.online}`]}
          rows={value.nodes.map((node) => ({
            key: node.uuid,
            cells: [
              node.name,
              node.is_disabled ? texts.off : node.is_connected ? texts.on : (node.last_status_message ?? texts.offline),
              count(node.users_online, language),
            ],
          }))}
        />
      )}
    </Panel>
  );
}

/** Long lines here say that a partner does not answer, or that there are too few instances. */
function JobQueues() {
  const texts = useTexts();
  const language = useLanguage();
  const queues = useLoaded(() => client.admin.jobQueues.list.query());
  useInterval(queues.reload, LOOK_AGAIN_MS, true);
  return (
    <Panel
      title={texts.queues}
      loaded={queues}
      empty={({ items }) => (items.length ? null : texts.nothing)}
      isWide
      testId="job-queues"
    >
      {({ items }) => (
        <Table
          caption={texts.queues}
          columns={[texts.queue, `#${texts.due}`, `#${texts.later}`, `#${texts.inWork}`, `#${texts.lag}`]}
          rows={items.map(({ name, due, later, running, lag_seconds }) => ({
            key: name,
            cells: [name, ...[due, later, running, Math.round(lag_seconds)].map((value) => count(value, language))],
          }))}
        />
      )}
    </Panel>
  );
}
