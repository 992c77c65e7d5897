import { compareHttp } from '../compare-http.mjs';

const name = 'features';

export const group = {
  name,
  run: async (context) => [
    await compareHttp(context, {
      name,
      work: '`GET /v1/features`',
      limitFile: 'features.mjs',
      least: 0.5,
      goal: 0.6,
      prepare: async ({ url }) => {
        const response = await fetch(`${url}/v1/features`);
        return {
          limitInput: {
            body: await response.text(),
            contentType: response.headers.get('content-type'),
          },
          requests: [{ path: '/v1/features' }],
        };
      },
    }),
  ],
};
