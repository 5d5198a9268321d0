"""Log every certificate to a tracker as it comes: here MLflow (`pip install mlflow`).

`on_record` is called with each record once it is safe in the store, so a tracker that fails or a
laptop that is closed loses no certificate: run the file again and the study goes on.
"""

import sys

import centersmooth as cs
from centersmooth.demo_model import autoencoder, digits
from centersmooth.report import write_report
from centersmooth.store import Record


def main(out: str = "digits-run") -> None:
    import mlflow

    images, _ = digits(5)
    setting = cs.Setting("l2", cs.Gaussian(0.25), cs.metrics.L2(), eps=(0.1, 0.25), samples=1_000)
    study = cs.Study(images, [setting], model=autoencoder(), targets=images, seed=0)

    def log(record: Record) -> None:
        for eps, bound in zip(record.eps, record.bounds, strict=False):  # a failed record has none
            mlflow.log_metric(f"bound at {eps:g}", bound, step=record.index)
        mlflow.log_metric("failed", record.status == "failed", step=record.index)

    with mlflow.start_run(run_name=study.title):
        mlflow.log_params({"sigma": setting.noise.sigma, "samples": setting.samples})
        print(study.run(out, on_record=log))
        mlflow.log_artifact(str(write_report(out).page))


if __name__ == "__main__":
    main(*sys.argv[1:])
