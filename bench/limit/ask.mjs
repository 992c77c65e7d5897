/** The least that asking and answering do: `ask` stores a text and waits, `answer` denies it. */
const [role, url, token, id] = process.argv.slice(2);
const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
const send = async (method, path, body) => {
  const answer = await fetch(`${url}/v1/requests${path}`, {
    ...{ method, headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  return answer.json();
};
if (role === 'ask') {
  await send('POST', '', { id, sealed: `1.${'A'.repeat(400)}` });
  const { answers = [] } = await send('GET', `/${id}?waitSeconds=50`);
  await send('DELETE', `/${id}`);
  process.exitCode = answers.length === 1 ? 0 : 1;
} else {
  const { success } = await send('POST', `/${id}/answer`, { deny: true });
  process.exitCode = success === true ? 0 : 1;
}
