/** The text of the chart's README, its table made from the comments of values.yaml. */
export function chartReadme(values) {
  const rows = documentedValues(values).map(
    ({ path, fallback, words }) => `| \`${path}\` | ${fallback} | ${words} |`,
  );
  return `${INTRODUCTION}| value | default | what |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
}

/** Each value that has a comment of the form `# -- words`, in the order of the file. */
export function documentedValues(values) {
  const lines = values.split('\n');
  const found = [];
  let parents = [];
  lines.forEach((text, index) => {
    const line = keyLine(text);
    if (line === null) {
      return;
    }
    parents = [...parents.filter(({ indent }) => indent < line.indent), line];
    const comment = /^\s*# -- (.+)$/.exec(lines[index - 1] ?? '');
    if (comment?.[1] !== undefined) {
      const path = parents.map(({ key }) => key).join('.');
      const fallback = fallbackOf(line, lines.slice(index + 1));
      found.push({ path, fallback, words: comment[1].replaceAll('|', '\\|') });
    }
  });
  return found;
}

function keyLine(text) {
  const match = /^( *)([A-Za-z][\w./-]*):(?: +(.*))?$/.exec(text);
  return match === null
    ? null
    : { indent: match[1]?.length ?? 0, key: match[2] ?? '', rest: match[3] ?? '' };
}

/** A default of several lines is for values.yaml to show. */
function fallbackOf({ indent, rest }, following) {
  if (rest !== '') {
    return `\`${rest}\``;
  }
  const next = following[0] ?? '';
  return /^ */.exec(next)?.[0].length === indent ? '' : 'see values.yaml';
}

const INTRODUCTION = `# The chart of Gatehouse

Installs [Gatehouse](../../README.md) on Kubernetes 1.30 or newer, with Helm 3 or 4, directly or through
Argo CD or Flux. It brings no database: PostgreSQL and Redis are yours.
[docs/deploy-kubernetes.md](../../docs/deploy-kubernetes.md) goes through a whole deployment.

\`\`\`sh
# To try it: the embedded database, one pod.
helm install gate ./helm/gatehouse --set image.repository=registry.example.org/gatehouse
helm test gate
\`\`\`

For real use bring a PostgreSQL, a Redis when there is to be more than one pod, and a Secret:

\`\`\`yaml
replicaCount: 2
secrets:
  DATABASE_URL: { existingSecret: gatehouse }
  REDIS_URL: { existingSecret: gatehouse }
  SERVICE_MASTER_SECRET: { existingSecret: gatehouse }
config:
  SERVICE_PUBLIC_URL: https://gate.example.org
  SERVICE_PRESET: default
\`\`\`

Whole examples: [values-enterprise-keyless.yaml](values-enterprise-keyless.yaml), and every file of [ci](ci).

## What it refuses, and why

| refused | because |
| --- | --- |
| a secret in \`config\` | it would be in a ConfigMap, which many can read |
| a misspelt variable or value | its policy would silently stay at the default |
| more than one replica, or an HPA that may create them, without \`REDIS_URL\` | they would not share updates and revocations |
| more than one replica with the embedded database | each would have its own accounts |
| a database without \`SERVICE_MASTER_SECRET\` | every pod would generate its own, and none could verify another's tokens |
| the migration hook with secrets by value | the hook runs before the chart's own Secret exists |
| an HTTPRoute without \`parentRefs\` | no gateway would serve it |
| forwarded certificates without \`trustedProxies\` | no certificate would be accepted |
| direct mode without certificate or authorities | the server would not start |
| \`createProxyConfig\` whose objects would not be used | certificates would not be asked for |
| providers without \`SERVICE_PUBLIC_URL\` | the provider could not redirect back, and the server would not start |
| \`networkPolicy.egress.enabled\` without rules | nothing but DNS would be reached |
| a ServiceMonitor that cannot present \`METRICS_TOKEN\` | every scrape would be refused |
| a grace period shorter than sleep and drain | pods would be killed with open requests |

## Secrets

Nothing is generated at random while rendering: a GitOps controller would change it at each sync, and every token
would become invalid. Secrets are files in the pod (\`NAME_FILE\`), not environment variables. The pods follow a changed
ConfigMap and a Secret of the chart by themselves; after changing your own Secret run \`kubectl rollout restart\`.

## Values

`;
