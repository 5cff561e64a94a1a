export async function findMeasured(db, environmentId, asked) {
    const { rows } = await db.query({
        text: `
      SELECT customer.id AS customer, customer.timezone, resource.id AS resource, feature.id AS feature, feature.meter_type, meter.aggregation,
        feature.unit_divide::text AS divide, feature.unit_rounding AS round
      FROM (SELECT) AS always
      LEFT JOIN customer ON customer.environment_id = $1::uuid AND customer.ref_id = $2
      LEFT JOIN customer_resource AS resource ON resource.environment_id = $1::uuid AND resource.customer_id = customer.id AND resource.ref_id = $3
      LEFT JOIN feature ON feature.environment_id = $1::uuid AND feature.ref_id = $4
      LEFT JOIN meter ON meter.environment_id = $1::uuid AND meter.feature_id = feature.id`,
        values: [environmentId, asked.customerId, asked.resourceId, asked.featureId],
    });
    const row = rows[0];
    return {
        customerId: row.customer,
        timeZone: row.timezone ?? 'UTC',
        resourceId: row.resource,
        feature: row.feature === null
            ? null
            : {
                id: row.feature,
                meterType: row.meter_type,
                aggregation: row.aggregation,
                unitTransformation: row.divide === null ? null : { divide: Number(row.divide), round: row.round ?? 'UP' },
            },
    };
}
//# sourceMappingURL=history-repository.js.map