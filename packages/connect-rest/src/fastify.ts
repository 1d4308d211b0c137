export {
  type FastifyPluginOptions,
  type FastifyReplyPart,
  type FastifyRequestPart,
  type FastifyScope,
  fastifyPlugin,
} from "./fastify/fastify-plugin.js";
