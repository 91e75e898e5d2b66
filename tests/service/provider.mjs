// oidc-provider of npm (OpenID Certified) with one client, PKCE required, and any person who asks.
import { Provider } from "oidc-provider";

const [, , port, redirect, secret] = process.argv;
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "bayesift",
      client_secret: secret,
      redirect_uris: [redirect],
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, preferred_username: id, groups: ["leads"] }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
